"""Judges mutants: builds each one in a copy of the tree, runs the tests that execute its line, and writes one line for it.

The verdicts: ci, full (killed by CI's part, by the full standard set), survived, open (not killed by CI's part, the full set was not
run), same (the same machine code: equivalent), error (does not compile)."""
import argparse
import collections
import concurrent.futures
import glob
import hashlib
import os
import re
import shutil
import struct
import subprocess
import sys
import threading
import time

import mutants
import tests

ROOT = os.getcwd()
TESTS = re.compile(r'(api-|bound|gpu-plans|host-plans|case$|check|planted|tuned|elem$|math|order|run$|hip-(?!registers|peers))')
UNITS = {'src/base/elem.h': 'elem', 'offload/device/math.h': 'math', 'src/base/bound.h': 'bound', 'src/base/order.h': 'order'}  # headers that a test of their own includes
CHIPS = ('gfx950', 'gfx942')
COMPILER_SECONDS = 240  # of CPU time for one file: a loop to be unrolled may have got 2^32 steps
KERNELS = {'attention_fast': ('hip_flash64', 'hip_flash128', 'hip_flash256', 'hip_decode64', 'hip_decode128'),
           'attention_f32': ('hip_decode_f32',), 'attention_general': ('hip_flash', 'hip_decode'), 'attention_parts': ('hip_decode', 'hip_decode64', 'hip_decode128'),
           'attention_wide': ('hip_flash256', 'hip_decode256'),
           'gemm_256x256': ('hip_256x256', 'hip_256x256_mfma32'), 'gemm_reduce': ()}
OPS = ('attention', 'cross_entropy', 'embedding', 'silu_mul', 'rmsnorm', 'softmax', 'swiglu', 'gemm', 'rope', 'add')


def op_of(unit):
    return next(o for o in OPS if unit.startswith(o))


def kernels_of(unit):
    """The rows that launch a .hip file's kernels; none: any row of the op."""
    op = op_of(unit)
    if unit in KERNELS:
        return KERNELS[unit]
    return ('hip_' + unit[len(op) + 1:],) if unit.startswith((op + '_tile', op + '_small', op + '_1', op + '_2')) else ()


def includes(files):
    """The files, and what they include of this tree."""
    found, todo = set(), list(files)
    while todo:
        file = todo.pop()
        if file not in found and os.path.exists(file):
            found.add(file)
            with open(file) as f:
                todo += [os.path.normpath(os.path.join(os.path.dirname(file), n)) for n in re.findall(r'#include "([^"]+)"', f.read())]
    return found


def device_files():
    """What only device code includes."""
    return includes(glob.glob('hip/**/*.hip', recursive=True)) - includes(glob.glob('[hos]*/**/*.c', recursive=True))


def mutated_files():
    found = [f for pattern in ('offload/*.[ch]', 'hip/**/*.[ch]', 'hip/**/*.hip') for f in glob.glob(pattern, recursive=True)]
    return sorted(f for f in found if f != 'hip/device/probe.hip') + ['src/base/bound.h', 'src/base/order.h']


# ---- Which tests execute which line ----

class Coverage:
    def __init__(self, folder):
        self.line, self.cost = {}, {}
        with open(os.path.join(folder, 'lines.tsv')) as f:
            for row in f:
                file, line, names = row.rstrip('\n').split('\t')
                self.line[file, int(line)] = names.split()
        with open(os.path.join(folder, 'tests.tsv')) as f:
            for row in f:
                name, seconds, status = row.split('\t')
                if int(status) == 0 and TESTS.match(name):
                    self.cost[name] = float(seconds)
        self.files = {file for file, _ in self.line}

    def tests_of(self, mutant, begin):
        """Of a line without code of its own (a statement's second line, a constant) those of the function's line before it, of data those
        of the file."""
        names = set()
        if mutant.scope == 'data':
            names = {n for (file, _), own in self.line.items() if file == mutant.file for n in own}
        else:
            for line in range(mutant.line, begin - 1, -1):
                if (mutant.file, line) in self.line:
                    names = set(self.line[mutant.file, line])
                    break
            else:
                names = set(self.line.get((mutant.file, mutant.line + 1), ()))
        names = (names | {UNITS.get(mutant.file)}) & set(self.cost)  # of constants gcc leaves no trace in the unit's test
        other = {n for n in names if 'gfx942' not in n or self.cost[n] < 2}  # mostly the twins of other tests
        return sorted(other or names, key=lambda n: self.cost[n])


def eligible(coverage):
    """Mutants of lines that tests execute, and how many there are on other lines."""
    kept, left_out, device = [], collections.Counter(), device_files()
    for file in mutated_files():
        with open(file) as f:
            text = f.read()
        begins = {}
        for m in mutants.mutants(file, text):
            begins.setdefault(m.function, m.line)
            m.device = file in device
            m.tests = [] if m.device else coverage.tests_of(m, begins[m.function])
            if m.device or m.tests:
                kept.append(m)
            else:
                left_out['no test executes it' if file in coverage.files else 'not compiled without a GPU'] += 1
    return kept, left_out


# ---- A copy of the tree with its build ----

def loaded(path):
    """A hash of the code and data that a code object loads. The rest changes with every change of a source: debug information has a
    checksum of the file, and clang names a symbol after the compilation."""
    with open(path, 'rb') as f:
        elf = f.read()
    at, = struct.unpack_from('<Q', elf, 0x28)  # e_shoff, e_shentsize, e_shnum of 64-bit ELF
    size, count = struct.unpack_from('<HH', elf, 0x3a)
    content = hashlib.sha256()
    for i in range(count):
        _, kind, flags, address, begin, length = struct.unpack_from('<IIQQQQ', elf, at + i * size)
        if flags & 2 and kind in (1, 7, 8):  # SHF_ALLOC; program's contents, notes, zeros
            content.update(struct.pack('<QQ', address, length) + (b'' if kind == 8 else elf[begin:begin + length]))
    return content.digest()


class Worker:
    def __init__(self, folder, options):
        self.tree, self.options = os.path.join(folder, 'tree'), options
        self.build, self.pristine = os.path.join(self.tree, 'build'), os.path.join(folder, 'pristine')
        self.copy_sources()
        if not os.path.exists(os.path.join(self.build, 'build.ninja')):
            self.quiet(['meson', 'setup', 'build', '-Ddebug=false', '-Dtests=true', '-Dladder=false', '-Dsim=enabled', '-Dtdm_backend=hip',
                        *options.meson], self.tree)
        self.quiet(['ninja', 'build.ninja'], self.build)  # a changed meson.build
        self.tests = {t.name: t for t in tests.read(self.build)}
        self.library = tests.library(self.build)
        self.tandem_check = os.path.join(self.build, 'test', 'tandem-check')
        targets = [f for t in self.tests.values() if TESTS.match(t.name) for f in t.targets]
        if not tests.ninja(self.build, targets, 2 * os.cpu_count()):
            sys.exit('mutate: the tree does not build as it is')
        self.save()
        self.units, self.objects = self.read_dependents()

    def quiet(self, command, folder):
        run = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if run.returncode != 0:
            sys.exit(f'mutate: {" ".join(command)}:\n{run.stdout.decode()[-2000:]}')
        return run.stdout.decode()

    def copy_sources(self):
        names = self.quiet(['git', 'ls-files', '-co', '--exclude-standard'], ROOT).split('\n')[:-1]
        for name in names:
            to = os.path.join(self.tree, name)
            with open(name, 'rb') as f:
                content = f.read()
            if os.path.exists(to) and open(to, 'rb').read() == content:
                continue
            os.makedirs(os.path.dirname(to), exist_ok=True)
            shutil.copyfile(name, to)
            shutil.copymode(name, to)

    def outputs(self):
        for part in ('hip', 'src', 'test', 'bench', 'case', 'run'):
            for folder, _, names in os.walk(os.path.join(self.build, part)):
                for n in names:
                    yield os.path.join(folder, n)

    def save(self):
        shutil.rmtree(self.pristine, ignore_errors=True)
        self.times, self.written = {}, set()
        for path in self.outputs():
            if os.path.islink(path):
                continue
            to = os.path.join(self.pristine, os.path.relpath(path, self.build))
            os.makedirs(os.path.dirname(to), exist_ok=True)
            shutil.copy2(path, to)
            self.times[path] = os.stat(path).st_mtime_ns

    def restore(self):
        """Puts back what a mutant's build has changed, times included: ninja then finds nothing to do."""
        for path, then in self.times.items():
            if path in self.written or not os.path.exists(path) or os.stat(path).st_mtime_ns != then:
                saved = os.path.join(self.pristine, os.path.relpath(path, self.build))
                if os.path.exists(path):
                    os.unlink(path)  # a process may have it mapped
                shutil.copy2(saved, path)
        self.written.clear()

    def is_changed(self, path):
        """Has an object file, or a code object, other content than before, debug information aside?"""
        saved = os.path.join(self.pristine, os.path.relpath(path, self.build))
        return self.digest(path) != self.digest(saved)

    def digest(self, path):
        if path.endswith('.hsaco'):
            return loaded(path)
        if path.endswith('.o'):
            stripped = os.path.join(self.tree, '..', 'stripped.o')
            subprocess.run(['objcopy', '--strip-debug', path, stripped], check=True)
            path = stripped
        with open(path, 'rb') as f:
            return hashlib.sha256(f.read()).digest()

    def read_dependents(self):
        """{file: what is compiled of it}, the quickest to compile first: HIP files (units), and the library's object files."""
        took, units, objects, now = {}, collections.defaultdict(list), collections.defaultdict(list), None
        with open(os.path.join(self.build, '.ninja_log')) as f:
            for row in f:
                part = row.split('\t')
                if len(part) > 3:
                    took[part[3]] = int(part[1]) - int(part[0])
        for row in self.quiet(['ninja', '-t', 'deps'], self.build).split('\n'):
            if row and not row.startswith(' '):
                now = row.split(':')[0]
            elif row:
                name = os.path.relpath(os.path.normpath(os.path.join(self.build, row.strip())), self.tree)
                if re.fullmatch(r'hip/[a-z_0-9]+-gfx950\.hsaco', now):
                    units[name].append((took.get(now, 0), now[len('hip/'):-len('-gfx950.hsaco')]))
                elif re.match(r'src/lib(tandem\.so.*|target_regions\.a)\.p/', now):
                    objects[name].append((took.get(now, 0), now))
        return tuple({name: [u for _, u in sorted(of)] for name, of in found.items()} for found in (units, objects))

    def run_test(self, test, extra=(), base=None):
        """None, or how it failed. Three times its usual CPU time and 20 s are enough for what ends at all; what waits forever takes none."""
        limit = int(3 * (base if base is not None else 60)) + 20
        status, _ = test.run({'OMP_WAIT_POLICY': 'passive'}, extra, limit, 10 * limit)
        if status in (0, 77):
            return None
        return f'{test.name} {"ran into its time limit" if status in (-9, -24) else f"ended with {status}"}'

    def check(self, op, chip, extra, name, base):
        test = self.tests[f'check-{chip}-{op}']
        command = [self.tandem_check, op, '--device', f'sim:{chip}', '--cover']
        own = tests.Test.__new__(tests.Test)
        own.name, own.build, own.command, own.environment = name, self.build, command, test.environment
        return self.run_test(own, extra, base)

    # ---- Host code ----

    def judge_host(self, m, coverage):
        names, unit = [n for n in m.tests if n in self.tests], UNITS.get(m.file)
        if m.was_open:
            pass
        elif unit in names:  # a header with a test of its own, which compiles little
            mutants.apply(m, self.tree)
            if not tests.ninja(self.build, self.tests[unit].targets, 1, quiet=True):
                return 'error', ''
            why = self.run_test(self.tests[unit], (), coverage.cost[unit])
            if why:
                return 'ci', why
            self.restore_source(m)
        elif m.file.endswith('.h'):
            why = self.try_object(m, names, coverage)
            if why:
                return 'ci', why
        mutants.apply(m, self.tree)
        if not tests.ninja(self.build, [self.library, *(self.tests[unit].targets if unit in names else ())], 1, quiet=True):
            return 'error', ''
        objects = [p for p in self.times if p.endswith(('.o', '.hsaco')) and os.stat(p).st_mtime_ns != self.times[p]]
        if objects and not any(self.is_changed(p) for p in objects):
            return 'same', ''
        for name in names:
            if name != unit and not m.was_open:
                if not tests.ninja(self.build, self.tests[name].targets, 1, quiet=True):
                    return 'error', ''
                why = self.run_named(name, m, coverage)
                if why:
                    return 'ci', why
        ops = [o for o in OPS if any(n == f'check-{c}-{o}' for n in names for c in CHIPS)] if not m.file.startswith('offload/') else []
        if ops and self.options.ci_only:
            return 'open', ''
        for op in sorted(ops, key=lambda o: coverage.cost.get(f'check-gfx950-{o}', 0)):
            why = self.check(op, 'gfx950', ('--first-failure',), f'the full set of {op}', 600)
            if why:
                return 'full', why
        return 'survived', ''

    def run_named(self, name, m, coverage):
        """A test, up to its first failure; of a run over all ops the one op whose file it is."""
        extra, stem = [], os.path.basename(m.file).removesuffix('.h').removesuffix('.c')
        if any(os.path.basename(c) == 'tandem-check' for c in self.tests[name].command[:2]):  # test/check/part.sh stands before it
            op = next((o for o in OPS if stem == o or stem.startswith(o + '_')), None)
            extra = ['--first-failure'] + ([op] if op and name in ('check', 'check-1x1', 'check-3x2', 'hip-verify') else [])
        return self.run_test(self.tests[name], extra, coverage.cost[name])

    def try_object(self, m, names, coverage):
        """A header's mutant in one object file alone, the quickest one to compile that it changes: mostly that is enough to be killed."""
        for name in self.objects.get(m.file, [])[:3]:
            if self.compile_with(m, name):
                os.unlink(os.path.join(self.build, self.library))
                tests.ninja(self.build, [self.library], 1, quiet=True)
                ran = [n for n in names if self.library_only(n) and coverage.cost[n] < 5] + [n for n in names if n == 'check']
                op = next((o for o in OPS if f'_{o}.c' in name), None)
                why = None
                for n in ran:
                    extra = ['--first-failure'] if n.startswith('check') else []
                    if n == 'check' and op is None:
                        continue
                    why = why or self.run_test(self.tests[n], extra + ([op] if n == 'check' else []), coverage.cost[n])
                self.restore()
                return why
            self.restore()
        return None

    def library_only(self, name):
        """Does a test see the library through its shared object alone?"""
        return name.startswith(('check', 'api-run', 'api-plan', 'api-threads', 'case', 'run')) and 'planted' not in name

    # ---- Device code ----

    def restore_source(self, m):
        os.unlink(os.path.join(self.tree, m.file))
        shutil.copy2(os.path.join(self.pristine, 'mutated'), os.path.join(self.tree, m.file))

    def compile_with(self, m, output):
        """One file compiled with the mutant. True: other code than before, False: the same, None: an error. The source is as it was
        afterwards, and the output as old as it was: ninja leaves both alone."""
        command = self.quiet(['ninja', '-t', 'commands', output], self.build).rstrip('\n').split('\n')[-1]
        mutants.apply(m, self.tree)
        run = subprocess.run(['sh', '-c', f'ulimit -t {COMPILER_SECONDS}\n{command}'], cwd=self.build, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
        self.restore_source(m)
        path = os.path.join(self.build, output)
        self.written.add(path)
        if run.returncode != 0:
            return None
        os.utime(path, ns=(self.times[path], self.times[path]))
        return self.is_changed(path)

    def compile(self, m, unit, chip):
        return self.compile_with(m, f'hip/{unit}-{chip}.hsaco')

    def link(self, unit, chip):
        """The library with a unit's new code. Ninja would compile a code object anew that is younger than in its log: it gets its old time
        (compile), and what is made of it is missing."""
        os.unlink(os.path.join(self.build, f'hip/{unit}-code.S'))
        if not tests.ninja(self.build, [self.library], 1, quiet=True):
            return False
        if not self.is_changed(os.path.join(self.build, f'hip/{unit}-{chip}.hsaco')):
            sys.exit(f'mutate: ninja has compiled {unit} anew, without the mutant')
        return True

    def sets(self, unit, chip):
        """CI's tests of one unit, the quickest first."""
        op, kernels = op_of(unit), kernels_of(unit)
        for name, test in sorted(self.tests.items()):
            if name.startswith(f'check-{chip}-hip_') and op == 'gemm' and (not kernels or any(name.startswith(f'check-{chip}-{k}-') for k in kernels)):
                yield test, ()
        chosen = ('--first-failure', *(('--chosen', ','.join(kernels)) if kernels else ()))
        yield self.tests[f'check-{chip}-{op}'], chosen
        yield self.tests[f'check-{chip}-few-units'], (op, *chosen)

    def judge_device(self, m):
        changed = []
        for unit in self.units.get(m.file, []):
            for chip in CHIPS:  # code that one chip does not run may have changed there too
                self.restore()
                other = self.compile(m, unit, chip)
                if other is None:
                    return 'error', ''
                if not other:
                    continue
                changed.append((unit, chip))
                if not self.link(unit, chip):
                    return 'error', ''
                for test, extra in self.sets(unit, chip) if not m.was_open else ():
                    why = self.run_test(test, extra)
                    if why:
                        return 'ci', f'{why} ({unit})'
        if not changed:
            return 'same', ''
        if self.options.ci_only:
            return 'open', ''
        for unit, chip in changed:
            self.restore()
            self.compile(m, unit, chip)
            self.link(unit, chip)
            kernels = kernels_of(unit)
            extra = ('--first-failure', *(('--chosen', ','.join(kernels)) if kernels else ()))
            why = self.check(op_of(unit), chip, extra, f'the full set of {op_of(unit)}', 600)
            if why:
                return 'full', f'{why} ({unit})'
        return 'survived', ''

    def judge(self, m, coverage):
        shutil.copy2(os.path.join(self.tree, m.file), os.path.join(self.pristine, 'mutated'))
        try:
            return self.judge_device(m) if m.device else self.judge_host(m, coverage)
        finally:
            self.restore_source(m)
            self.restore()


# ---- Results ----

COLUMNS = ('key', 'verdict', 'seconds', 'by', 'file', 'function', 'kind', 'old', 'new')


def read_results(path):
    found = {}
    if os.path.exists(path):
        with open(path) as f:
            for row in f:
                part = row.rstrip('\n').split('\t')
                if len(part) == len(COLUMNS):
                    found[part[0]] = dict(zip(COLUMNS, part))
    return found


def read_equivalents(path):
    """Proven by hand: file, function, line, changed line, reason; with tabs between."""
    rows = []
    with open(path) as f:
        for row in f:
            if row.strip() and not row.startswith('#'):
                part = row.rstrip('\n').split('\t')
                if len(part) != 5:
                    sys.exit(f'mutate: equivalent.tsv: {row.strip()}: must have 5 columns: FILE FUNCTION LINE CHANGED REASON')
                rows.append(tuple(part))
    return rows


def mark_equivalents(all_mutants, path):
    """A file that is gone was moved or renamed: the other columns alone then name the mutant."""
    names = {os.path.basename(m.file) for m in all_mutants}
    by_content = collections.defaultdict(list)
    for m in all_mutants:
        m.reason = ''
        by_content[m.content()[1:]].append(m)
    for file, *content, reason in read_equivalents(path):
        hits = [m for m in by_content[tuple(content)] if os.path.basename(m.file) == file or file not in names]
        if not hits:
            print(f'mutate: equivalent.tsv: no such mutant any more: {file}: {content[1]} -> {content[2]}', file=sys.stderr)
        for m in hits:
            m.reason = reason


def area(m):
    return 'hip/, device code' if m.device else 'hip/, host code' if m.file.startswith('hip/') else m.file.split('/')[0] + '/'


def table(sample, results):
    areas, survivors = collections.defaultdict(collections.Counter), []
    for m in sample:
        verdict = results[m.key]['verdict'] if m.key in results else 'not run'
        if m.reason and verdict in ('survived', 'open', 'not run'):
            verdict = 'equivalent'
        for a in (area(m), 'all'):
            areas[a][verdict] += 1
        if verdict in ('survived', 'open'):
            survivors.append((m, verdict))
    print('| mutants of | counted | killed by CI\'s part | by the full set | survived | full set not run | equivalent: same code | equivalent: proven | do not compile |')
    print('|---|---|---|---|---|---|---|---|---|')
    for a in sorted(areas, key=lambda a: (a == 'all', a)):
        c = areas[a]
        counted = sum(c[v] for v in ('ci', 'full', 'survived', 'open'))
        share = lambda n: f'{n} ({100 * n / counted:.1f} %)' if counted else str(n)
        print(f'| {a} | {counted} | {share(c["ci"])} | {share(c["ci"] + c["full"])} | {c["survived"]} | {c["open"]} | {c["same"]} | {c["equivalent"]} | {c["error"]} |')
    for m, verdict in survivors:
        print(f'{verdict}: {m.key} {m.file}:{m.line}: {m.function}\n    {m.old.strip()}\n    {m.new.strip()}')


# ---- The command ----

def sample_of(kept, options):
    """Every mutant has its place in the order of a seed, whatever other mutants there are."""
    order = sorted(kept, key=lambda m: hashlib.sha256(f'{options.seed} {m.key}'.encode()).digest())
    if options.files:
        order = [m for m in order if any(m.file == f or m.file.startswith(f.rstrip('/') + '/') for f in options.files)]
    return [m for m in order if not options.key or m.key in options.key]


def counts(result, m):
    return result['verdict'] in ('ci', 'full', 'survived', 'open') and not (m.reason and result['verdict'] in ('survived', 'open'))


def run_all(order, results, coverage, options):
    lock, todo, out = threading.Lock(), iter(order), open(options.results, 'a')
    done = []

    def next_mutant():
        with lock:
            while sum(counts(results[m.key], m) for m in done if m.key in results) < options.count:
                m = next(todo, None)
                if m is None:
                    return None
                done.append(m)
                again = options.retry and m.key in results and results[m.key]['verdict'] in ('survived', 'open') or \
                    not options.ci_only and m.key in results and results[m.key]['verdict'] == 'open'
                if not m.reason and (m.key not in results or again):
                    m.was_open = m.key in results and results[m.key]['verdict'] == 'open' and not options.retry
                    return m
            return None

    def work(number):
        worker = Worker(os.path.join(options.build, f'worker-{number}'), options)
        while True:
            m = next_mutant()
            if m is None or time.monotonic() > options.end:
                return
            start = time.monotonic()
            verdict, by = worker.judge(m, coverage)
            row = dict(zip(COLUMNS, (m.key, verdict, f'{time.monotonic() - start:.0f}', by, m.file, m.function, m.kind, m.old.strip(), m.new.strip())))
            with lock:
                results[m.key] = row
                out.write('\t'.join(v.replace('\t', ' ') for v in row.values()) + '\n')
                out.flush()
                print(f'{len(done)} {m.key} {verdict} {row["seconds"]} s {by} {m.file}:{m.line}: {m.new.strip()}', flush=True)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for future in [pool.submit(work, n) for n in range(options.jobs)]:
            future.result()
    return done


def main():
    parser = argparse.ArgumentParser(prog='tools/mutate.sh')
    parser.add_argument('--files', nargs='+', default=[], metavar='FILE', help='files or folders; the default is offload/ hip/ src/base/order.h src/base/bound.h')
    parser.add_argument('--count', type=int, default=10**9, metavar='N', help='end after N mutants that count: compiled, not known as equivalent')
    parser.add_argument('--seed', type=int, default=1, metavar='S', help='the order of the mutants; the default is 1')
    parser.add_argument('--key', nargs='+', default=[], metavar='KEY', help='these mutants only')
    parser.add_argument('--ci-only', action='store_true', help='run CI\'s part of the sets alone; what survives it stays open')
    parser.add_argument('--retry', action='store_true', help='judge anew what survived before')
    parser.add_argument('--minutes', type=float, default=0, metavar='M', help='begin no mutant after M minutes')
    parser.add_argument('--list', action='store_true', help='print the mutants of the sample, judge none')
    parser.add_argument('--table', action='store_true', help='print the table of what was judged')
    parser.add_argument('-j', dest='jobs', type=int, default=1, metavar='N', help='copies of the tree that work at the same time')
    parser.add_argument('--build', default='build-mutate', help=argparse.SUPPRESS)
    parser.add_argument('--equivalent', default=os.path.join(os.path.dirname(os.path.abspath(__file__)), 'equivalent.tsv'), help=argparse.SUPPRESS)
    parser.add_argument('--coverage', default='build-coverage', help=argparse.SUPPRESS)
    parser.add_argument('--meson', action='append', default=[], metavar='OPTION', help='an option of meson setup: --meson=-Dhip_compiler=PATH')
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    options.results = os.path.join(options.build, 'results.tsv')
    options.end = time.monotonic() + (options.minutes * 60 if options.minutes else 1e9)
    os.makedirs(options.build, exist_ok=True)
    coverage = Coverage(options.coverage)
    kept, left_out = eligible(coverage)
    mark_equivalents(kept, options.equivalent)
    order, results = sample_of(kept, options), read_results(options.results)
    print(f'{len(kept)} mutants on lines that tests execute; left out: ' + ', '.join(f'{n}: {why}' for why, n in sorted(left_out.items())))
    if options.list:
        for m in order[:options.count]:
            print(f'{m.key} {m.file}:{m.line}: {m.function}\n    {m.old.strip()}\n    {m.new.strip()}' + (f'\n    equivalent: {m.reason}' if m.reason else ''))
        return
    if options.table:
        done = [m for m in order if m.key in results or m.reason]
        enough = 0
        for i, m in enumerate(done):
            enough += m.key in results and counts(results[m.key], m)
            if enough == options.count:
                done = done[:i + 1]
                break
    else:
        done = run_all(order, results, coverage, options)
    print(f'seed {options.seed}, results in {os.path.relpath(options.results)}')
    table([m for m in done if m.key in results or m.reason], results)


if __name__ == '__main__':
    main()
