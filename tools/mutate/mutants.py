"""Lists the mutants of a C or HIP file: one token, operator, constant, condition or statement changed on one line.

A mutant is known by its content (file name without folders, function, line, changed line, which of several equal lines), so that
it keeps its key while code moves."""
import hashlib
import os
import re

TOKEN = re.compile(r'''(?P<skip>/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  |(?P<number>\.?\d(?:[eEpP][+-]|[\w.'])*) |(?P<word>[A-Za-z_]\w*) |(?P<line>\n) |(?P<space>[^\S\n]+)
  |(?P<mark><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\#\#|::|.)''', re.S | re.X)

SWAPS = {'<': ['<=', '>='], '>': ['>=', '<='], '<=': ['<', '>'], '>=': ['>', '<'], '==': ['!='], '!=': ['=='], '+': ['-'], '-': ['+'],
         '*': ['/'], '/': ['*'], '%': ['/'], '<<': ['>>'], '>>': ['<<'], '&': ['|'], '|': ['&'], '^': ['|'], '&&': ['||'], '||': ['&&'],
         '+=': ['-=', '='], '-=': ['+=', '='], '*=': ['/=', '='], '/=': ['*=', '='], '|=': ['&=', '='], '&=': ['|=', '='], '^=': ['|='],
         '++': ['--'], '--': ['++'], '<<=': ['>>='], '>>=': ['<<=']}
BINARY_ONLY = {'+', '-', '*', '&', '<', '>'}
WORDS = {'true': 'false', 'false': 'true', 'int64_t': 'int32_t', 'uint64_t': 'uint32_t', 'tdm_min': 'tdm_max', 'tdm_max': 'tdm_min',
         'fminf': 'fmaxf', 'fmaxf': 'fminf', 'm': 'n', 'n': 'm', 'row': 'col', 'col': 'row', 'rows': 'cols', 'cols': 'rows', 'lda': 'ldb',
         'ldb': 'lda', 'break': 'continue', 'continue': 'break'}
KEYWORDS = {'return', 'case', 'sizeof', 'else', 'do', 'goto'}
NOT_MUTATED = re.compile(r'^\s*(#|template\b|typedef\b|extern\b|using\b|_Static_assert|static_assert|__attribute__|TDM_PRAGMA|_Pragma|return;)')


class Token:
    def __init__(self, kind, text, line, column):
        self.kind, self.text, self.line, self.column = kind, text, line, column


class Mutant:
    def __init__(self, file, line, function, kind, old, new, scope):
        self.file, self.line, self.function, self.kind, self.old, self.new, self.scope = file, line, function, kind, old, new, scope
        self.key = ''

    def content(self):
        return os.path.basename(self.file), self.function, self.old.strip(), self.new.strip()


def tokens(text):
    found, line, begin = [], 1, 0
    for m in TOKEN.finditer(text):
        if m.lastgroup not in ('skip', 'space', 'line'):
            found.append(Token(m.lastgroup, m.group(), line, m.start() - begin))
        if '\n' in m.group():
            line += m.group().count('\n')
            begin = m.start() + m.group().rfind('\n') + 1
    return found


def without_preprocessor(text):
    """Directives, with their continued lines, as empty lines."""
    return re.sub(r'^[^\S\n]*#(?:[^\n]*\\\n)*[^\n]*', lambda m: '\n' * m.group().count('\n'), text, flags=re.M)


def function_name(before):
    """Of the tokens in front of a '{' at file scope: a function's name, '' for data and enums, None for what is not code."""
    depth, name, words = 0, None, [t.text for t in before]
    if 'struct' in words[:2] or 'union' in words[:2] or 'typedef' in words[:1]:
        return '' if '=' in words else None
    if '=' in words or 'enum' in words[:1]:
        return ''
    for i, t in enumerate(before):
        if t.text == '(':
            if depth == 0 and i > 0 and before[i - 1].kind == 'word' and before[i - 1].text != '__attribute__':
                name = before[i - 1].text
            depth += 1
        elif t.text == ')':
            depth -= 1
    return name


def scopes(found):
    """For each token (function, scope): scope is 'body', 'data' or None."""
    result, start, depth, now = [], 0, 0, (None, None)
    for i, t in enumerate(found):
        if depth == 0 and t.text == '{':
            before = found[start:i]
            if [b.text for b in before[:1]] == ['namespace'] or [b.text for b in before[:2]] == ['extern', '"C"'] or not before:
                result.append((None, None))
                start = i + 1
                continue
            name = function_name(before)
            now = (None, None) if name is None else (name, 'body') if name else (next((b.text for b in reversed(before) if b.kind == 'word'), ''), 'data')
        result.append(now if depth > 0 or t.text == '{' else (None, None))
        if t.text == '{':
            depth += 1
        elif t.text == '}':
            depth = max(depth - 1, 0)
            if depth == 0:
                start, now = i + 1, (None, None)
        elif t.text == ';' and depth == 0:
            # static const int x = 3;
            words = [b.text for b in found[start:i]]
            if '=' in words and '(' not in words[:words.index('=')]:
                name = words[words.index('=') - 1]
                for j in range(start, i):
                    result[j] = (name, 'data')
            start = i + 1
    return result


def numbers(text):
    """Other values for a constant."""
    m = re.fullmatch(r"(0[xX][\da-fA-F]+|\d+)([uUlL]*)", text)
    if m:
        value, suffix = int(m.group(1), 0), m.group(2)
        return [f'{value + 1}{suffix}'] + ([f'{value - 1}{suffix}'] if value > 0 else [])
    m = re.fullmatch(r'([\d.]+(?:[eE][+-]?\d+)?)([fF]?)', text)
    if m:
        value = float(m.group(1))
        return [f'{value * 2 if value else 1.0!r}{m.group(2)}', f'{value / 2 if value else -1.0!r}{m.group(2)}']
    m = re.fullmatch(r'(0[xX][\da-fA-F.]+[pP])([+-]?\d+)([fF]?)', text)
    return [f'{m.group(1)}{int(m.group(2)) + 1}{m.group(3)}', f'{m.group(1)}{int(m.group(2)) - 1}{m.group(3)}'] if m else []


def is_binary(before):
    return before is not None and (before.kind == 'number' or before.text in (')', ']') or before.kind == 'word' and before.text not in KEYWORDS)


def replacements(t, before):
    if t.kind == 'number':
        return [('constant', n) for n in numbers(t.text)]
    if t.kind == 'word':
        member = before is not None and before.text in ('.', '->')
        return [('word', WORDS[t.text])] if t.text in WORDS and (not member or WORDS[t.text] not in ('n', 'm') or True) else []
    if t.text in BINARY_ONLY and not is_binary(before):
        return [('unary', '')] if t.text == '-' else []
    if t.text in ('!', '~'):
        return [('unary', '')]
    return [('operator', o) for o in SWAPS.get(t.text, [])]


def condition(row, line):
    """if (C) on one line, with the condition negated, always and never true."""
    at = row[1].column
    depth = 0
    for t in row[1:]:
        depth += (t.text == '(') - (t.text == ')')
        if depth == 0:
            inner, behind = line[at + 1:t.column], line[t.column:]
            return [('condition', line[:at + 1] + c + behind) for c in (f'!({inner})', '1', '0')]
    return []


def statement(row, line):
    """A statement that is a line of its own is left out."""
    first, last = row[0].text, row[-1].text
    opened = sum(t.text in '([{' for t in row) == sum(t.text in ')]}' for t in row)
    if last != ';' or not opened or row[0].kind != 'word' and first not in ('*', '++', '--', '(') or first in ('return', 'enum', 'static', 'goto', 'const'):
        return []
    if first in ('if', 'for', 'while', 'else', 'case', 'default', 'do'):
        return []
    call = len(row) > 1 and row[1].text in ('(', '[', '.', '->', '++', '--') or any(t.text in ('=', '+=', '-=', '*=', '/=', '|=', '&=') for t in row[1:2])
    if not (call or first in ('break', 'continue', '*', '++', '--')):
        return []
    return [('statement', line[:row[0].column] + ';')]


def mutants(file, text):
    found = tokens(without_preprocessor(text))
    lines, where, rows, made, seen = text.split('\n'), scopes(found), {}, [], {}
    for i, t in enumerate(found):
        rows.setdefault(t.line, []).append(i)
    for number in sorted(rows):
        row, line = rows[number], lines[number - 1]
        function, scope = where[row[0]]
        if scope is None:
            function, scope = where[row[-1]]
        if scope is None or NOT_MUTATED.match(line):
            continue
        changed = []
        for i in row:
            t = found[i]
            if where[i][1] is None:
                continue
            for kind, new in replacements(t, found[i - 1] if i > 0 else None):
                changed.append((kind, line[:t.column] + new + line[t.column + len(t.text):]))
        if scope == 'body':
            own = [found[i] for i in row]
            if own[0].text == 'if' and len(own) > 1:
                changed += condition(own, line)
            starts = row[0] == 0 or found[row[0] - 1].text in (';', '{', '}', ')', 'else', ':')
            changed += statement(own, line) if starts else []
        for kind, new in dict((new, (kind, new)) for kind, new in changed).values():
            mutant = Mutant(file, number, function, kind, line, new, scope)
            content = mutant.content()
            seen[content] = seen.get(content, 0) + 1
            mutant.key = hashlib.sha256('\n'.join((*content, str(seen[content]))).encode()).hexdigest()[:12]
            made.append(mutant)
    return made


def apply(mutant, root):
    path = os.path.join(root, mutant.file)
    with open(path) as f:
        lines = f.read().split('\n')
    assert lines[mutant.line - 1] == mutant.old, f'{mutant.file}:{mutant.line} is another line now'
    lines[mutant.line - 1] = mutant.new
    with open(path, 'w') as f:
        f.write('\n'.join(lines))
