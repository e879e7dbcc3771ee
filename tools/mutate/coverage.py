"""coverage.py BUILD JOBS [TEST...]: runs each test of a build made with --coverage, and writes which test executes which line. With
names the results of other tests stay as they are."""
import collections
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys

import tests

FOLDERS = ('offload/', 'hip/', 'src/')


def gcov_lines(root, build, notes, counts):
    """{(file, line): executed} of one object file. counts: its counters, or None."""
    folder = os.path.dirname(counts or notes)
    if counts and not os.path.exists(counts[:-5] + '.gcno'):
        os.symlink(notes, counts[:-5] + '.gcno')
    run = subprocess.run(['gcov', '-j', '-t', counts or notes], cwd=build, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    lines = {}
    for text in run.stdout.decode().splitlines():
        for f in json.loads(text)['files'] if text.startswith('{') else []:
            name = os.path.relpath(os.path.normpath(os.path.join(build, f['file'])), root)
            if not name.startswith(FOLDERS):
                continue
            for line in f['lines']:
                key = name, line['line_number']
                lines[key] = lines.get(key, False) or line['count'] > 0
    return lines


def objects(build):
    """The notes of every object of the library, and of tests that include its files: copies in notes/, in which the bodies of parallel and
    target regions are functions like others. gcc marks them as artificial, and gcov leaves such functions out."""
    found = []
    for part in ('src', 'test'):
        for folder, _, names in os.walk(os.path.join(build, part)):
            for name in (n for n in names if n.endswith('.gcno')):
                with open(os.path.join(folder, name), 'rb') as f:
                    content = f.read()
                to = os.path.join(build, 'notes', os.path.relpath(folder, build), name)
                os.makedirs(os.path.dirname(to), exist_ok=True)
                with open(to, 'wb') as f:
                    f.write(re.sub(rb'(\._omp_fn\.\d+\0)\x01\0\0\0', rb'\1\0\0\0\0', content))
                found.append(to)
    return found


def run_test(root, build, test, notes):
    prefix = os.path.join(build, 'counts', re.sub(r'[^\w.-]', '_', test.name))
    shutil.rmtree(prefix, ignore_errors=True)
    status, seconds = test.run({'GCOV_PREFIX': prefix})
    executed = set()
    for n in notes:
        counts = prefix + os.path.join(build, os.path.relpath(n, os.path.join(build, 'notes')))[:-5] + '.gcda'
        if os.path.exists(counts):
            executed |= {key for key, ran in gcov_lines(root, build, n, counts).items() if ran}
    shutil.rmtree(prefix, ignore_errors=True)
    return status, seconds, executed


def code_lines(path):
    """Lines of a file that hold more than a comment or a brace."""
    with open(path) as f:
        text = re.sub(r'/\*.*?\*/', lambda m: '\n' * m.group().count('\n'), f.read(), flags=re.S)
    return sum(bool(re.search(r'\w', re.sub(r'//.*|#\s*(include|ifndef|define \w+_H\b|endif).*', '', line))) for line in text.splitlines())


def write_results(root, build, every, by_line, ran):
    with open(os.path.join(build, 'tests.tsv'), 'w') as f:
        f.writelines(f'{name}\t{seconds:.2f}\t{status}\n' for name, status, seconds in ran)
    with open(os.path.join(build, 'lines.tsv'), 'w') as f:
        f.writelines(f'{file}\t{line}\t{" ".join(sorted(by_line[file, line]))}\n' for file, line in sorted(every))
    total, missed = collections.Counter(), collections.Counter()
    with open(os.path.join(build, 'missed.txt'), 'w') as f:
        for file, line in sorted(every):
            total[file] += 1
            if not by_line[file, line]:
                missed[file] += 1
                with open(os.path.join(root, file)) as source:
                    f.write(f'{file}:{line}: {source.read().splitlines()[line - 1].strip()}\n')
    print('file                             lines of code   executed by no test')
    for file in sorted(total):
        print(f'{file:32} {total[file]:14} {missed[file]:21}')
    print(f'{"all":32} {sum(total.values()):14} {sum(missed.values()):21}')
    absent = [os.path.join('offload', n) for n in sorted(os.listdir(os.path.join(root, 'offload')))
              if n.endswith(('.c', '.h')) and 'offload/' + n not in total]
    print(f'not compiled without a GPU: {sum(code_lines(os.path.join(root, n)) for n in absent)} lines in {len(absent)} files of offload/:')
    print('  ' + ' '.join(os.path.basename(n) for n in absent))
    print(f'the list: {os.path.join(build, "missed.txt")}')


def keep_others(build, by_line, ran):
    """The results of tests that were not run this time."""
    names, lines, listed = {name for name, _, _ in ran}, os.path.join(build, 'lines.tsv'), os.path.join(build, 'tests.tsv')
    if not os.path.exists(lines) or not os.path.exists(listed):
        return
    with open(listed) as f:
        old = [row.rstrip('\n').split('\t') for row in f]
    ran += [(name, int(status), float(seconds)) for name, seconds, status in old if name not in names]
    with open(lines) as f:
        for row in f:
            file, line, by = row.rstrip('\n').split('\t')
            by_line[file, int(line)] |= set(by.split()) - names


def main():
    root, build, jobs, names = os.getcwd(), os.path.abspath(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    chosen = [t for t in tests.read(build) if t.name in names or not names and not {'sim', 'learn'} & set(t.suites) and
              t.name != 'install' and 'pages' not in t.name]
    unknown = set(names) - {t.name for t in chosen}
    if unknown:
        sys.exit(f'coverage: {" ".join(sorted(unknown))}: no such test; meson test -C {build} --list names them')
    if not tests.ninja(build, [f for t in chosen for f in t.targets], jobs):
        sys.exit('coverage: the build failed')
    notes = objects(build)
    by_line, ran, every = collections.defaultdict(set), [], set()
    for n in notes:
        every |= set(gcov_lines(root, build, n, None))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for test, (status, seconds, executed) in zip(chosen, pool.map(lambda t: run_test(root, build, t, notes), chosen)):
            ran.append((test.name, status, seconds))
            if status != 0:
                print(f'coverage: {test.name} ended with {status}', file=sys.stderr)
            for key in executed:
                by_line[key].add(test.name)
    if names:
        keep_others(build, by_line, ran)
    write_results(root, build, every, by_line, ran)


main()
