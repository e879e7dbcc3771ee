#!/usr/bin/env python3
"""The mutation tool on a small project: mutants are killed, survive, are found to be the same, keep their keys when code moves."""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import mutants  # noqa: E402

SOURCE = '''int tiny_clamp(int x, int most) {
  /* x > most */
  if (x > most) return most;
  return x;
}
int tiny_twice(int x) {
  unsigned zero = x & 0;
  return 2 * x + (int)zero;
}
'''
TEST = '''int tiny_clamp(int, int);
int tiny_twice(int);
int main(void) { return tiny_clamp(5, 3) != 3 || tiny_clamp(2, 3) != 2 || tiny_twice(3) != 6; }
'''

def make_project(folder):
    def write(name, text):
        os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
        with open(os.path.join(folder, name), 'w') as f:
            f.write(text)

    write('offload/tiny.c', SOURCE)
    write('src/base/order.h', '')
    write('src/base/bound.h', '')
    write('src/meson.build', "tandem = shared_library('tandem', '../offload/tiny.c')\n")
    write('test/case.c', TEST)
    write('meson.build', "project('tiny', 'c', default_options: 'optimization=2')\nsubdir('src')\ntest('case', executable('case', 'test/case.c', link_with: tandem))\n")
    write('meson_options.txt', "option('ladder', type: 'boolean')\noption('tests', type: 'boolean')\noption('sim', type: 'feature')\noption('tdm_backend', type: 'string')\n")
    write('.gitignore', '/build*/\n')
    write('build-coverage/lines.tsv', ''.join(f'offload/tiny.c\t{n}\t{"" if n == 4 else "case"}\n' for n in (1, 3, 4, 6, 7, 8)))
    write('build-coverage/tests.tsv', 'case\t0.01\t0\n')
    write('equivalent.tsv', 'tiny.c\ttiny_clamp\tif (x > most) return most;\tif (x >= most) return most;\tboth are most where x is\n')
    subprocess.run(['git', 'init', '-q', folder], check=True)


def mutate(folder, *arguments):
    run = subprocess.run([sys.executable, os.path.join(HERE, 'mutate.py'), '--equivalent', 'equivalent.tsv', *arguments], cwd=folder,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if run.returncode != 0:
        sys.exit(run.stdout)
    return run.stdout


def expect(what, so):
    if not so:
        sys.exit(f'test_mutate: {what}')


def keys(text):
    return {(m.old.strip(), m.new.strip()): m.key for m in mutants.mutants('offload/tiny.c', text)}


def main():
    with tempfile.TemporaryDirectory() as folder:
        make_project(folder)
        first = mutate(folder, '--count', '3', '--seed', '5')
        second = mutate(folder, '--seed', '5')
        with open(os.path.join(folder, 'build-mutate', 'results.tsv')) as f:
            rows = [row.rstrip('\n').split('\t') for row in f]
    verdict = {(r[7], r[8]): r[1] for r in rows}
    test = 'if (x > most) return most;'
    expect(f'three mutants were asked for:\n{first}', '| all | 3 |' in first)
    expect(f'a mutant was judged twice:\n{second}', len({r[0] for r in rows}) == len(rows))
    expect(f'a negated condition must be killed: {verdict}', verdict.get((test, 'if (!(x > most)) return most;')) == 'ci')
    expect(f'a condition that is never true must be killed: {verdict}', verdict.get((test, 'if (0) return most;')) == 'ci')
    expect(f'a changed constant must be killed: {verdict}', verdict.get(('return 2 * x + (int)zero;', 'return 3 * x + (int)zero;')) == 'ci')
    expect(f'subtracting zero is the same code: {verdict}', verdict.get(('return 2 * x + (int)zero;', 'return 2 * x - (int)zero;')) == 'same')
    expect(f'a proven equivalent is not judged: {verdict}', (test, 'if (x >= most) return most;') not in verdict)
    expect(f'a proven equivalent is counted:\n{second}', '| 1 |' in second)
    expect('comments are not mutated', not any('/*' in old for old, _ in verdict))
    moved = keys('/* a line more */\nint other(void) { return 7; }\n' + SOURCE)
    expect('a key depends on where a line stands', all(moved[m] == key for m, key in keys(SOURCE).items()))
    both = mutants.mutants('offload/tiny.c', SOURCE + SOURCE)
    expect('two equal lines share a key', len({m.key for m in both}) == len(both))


main()
