"""The tests of a Meson build: what they are called, what they need, and how to run one on its own."""
import json
import os
import resource
import signal
import subprocess
import time


class Test:
    def __init__(self, build, row, files):
        self.name, self.build, self.command = row['name'], build, row['cmd']
        self.suites = [s.split(':')[-1] for s in row['suite']]
        self.environment = row['env']
        self.targets = [f for d in row['depends'] for f in files.get(d, [])]

    def run(self, environment=(), extra=(), cpu=0, wall=None):
        """Exit status and CPU seconds; a test over its limit ends by a signal, a status below 0. extra: arguments after the test's own."""

        def limit():
            os.setpgid(0, 0)
            if cpu:
                resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))

        run = subprocess.Popen(self.command + list(extra), cwd=self.build, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, env={**os.environ, **self.environment, **dict(environment)}, preexec_fn=limit)
        end = time.monotonic() + wall if wall else None
        while True:
            done, status, usage = os.wait4(run.pid, os.WNOHANG)
            if done:
                break
            if end and time.monotonic() > end:
                os.killpg(run.pid, signal.SIGKILL)
            time.sleep(0.02)
        run.returncode = os.waitstatus_to_exitcode(status)
        return run.returncode, usage.ru_utime + usage.ru_stime


def read(build):
    info = os.path.join(build, 'meson-info')
    with open(os.path.join(info, 'intro-targets.json')) as f:
        files = {t['id']: [os.path.relpath(n, build) for n in t['filename']] for t in json.load(f)}
    with open(os.path.join(info, 'intro-tests.json')) as f:
        return [Test(build, row, files) for row in json.load(f)]


def library(build):
    """The file that ninja knows as the shared library."""
    with open(os.path.join(build, 'meson-info', 'intro-targets.json')) as f:
        return next(os.path.relpath(t['filename'][0], build) for t in json.load(f) if t['name'] == 'tandem' and t['type'] == 'shared library')


def ninja(build, targets, jobs, quiet=False):
    out = subprocess.DEVNULL if quiet else None
    return subprocess.run(['ninja', '-C', build, '-j', str(jobs), *sorted(set(targets))], stdout=out, stderr=out).returncode == 0
