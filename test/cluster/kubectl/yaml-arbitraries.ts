import fc from 'fast-check';

/** Scalars whose meaning differs between YAML 1.1, YAML 1.2 and JSON, and texts that resemble them. */
const SCALARS: readonly string[] = [
  '01750',
  '1_000',
  '08',
  '0o17',
  '0x1F',
  '0b11',
  '-0b11',
  '+5',
  '-0',
  '0_8',
  '0777_',
  '1__0',
  '_1',
  '0x',
  '0xG',
  '1e3',
  '1E+3',
  '1.',
  '.5',
  '+.5',
  '1.5.2',
  '1e',
  '1e400',
  '1e3_0',
  '12e03',
  '1_0.5',
  '190:20:30',
  '1:30',
  '-.5',
  'no',
  'No',
  'NO',
  'nO',
  'yes',
  'y',
  'Y',
  'n',
  'on',
  'Off',
  'oN',
  'true',
  'True',
  'tRUE',
  'false',
  '~',
  'null',
  'Null',
  'nULL',
  '',
  '.',
  '-',
  '+',
  '.inf',
  '.nan',
  '-.INF',
  'inf',
  'nan',
  '2026-11-28',
  '=',
  '<<x',
  '2026-11-28T10:00:00Z',
  'plain text',
  'a: b',
  'a #b',
  'a#b',
  '"01750"',
  "'no'",
  "'it''s'",
  '"\\u00e9\\n\\t"',
  '!!str 5',
  '!!int "5"',
  '!!float 1',
  '!!bool "yes"',
  '!!binary aGk=',
  '!own x',
  '!!str no',
  '!!null ""',
  '1Gi',
  '100m',
  '0.1',
  '5e-1',
  '18446744073709551615',
  '123456789012345678901234567890',
  '0x7fffffff',
  '1,5',
  '@a',
  '`a`',
  '%a',
  '&',
  '*',
  '!',
  '|',
  '>',
  '{',
  '[',
  '? a',
  '- a',
  'a,b',
  '\u00e9',
  '\ud83d\ude00',
  '\ta',
  'a\tb',
];
const KEYS: readonly string[] = [
  'a',
  'b',
  'c',
  'd',
  '"e"',
  'y',
  'no',
  '1',
  '010',
  '1.50',
  'on',
  '~',
  "'1'",
  'g.h/i',
  '2026-01-01',
];

const scalar = fc.constantFrom(...SCALARS);
/** In braces, the parsers of JavaScript and Go differ about these, which nobody writes. */
const ODD_IN_BRACES: readonly string[] = ['!', '-', '? a', 'a,b', '1,5', '|', '>', '!!str'];
const inBraces = scalar.filter((text) => !ODD_IN_BRACES.includes(text));
const key = fc.constantFrom(...KEYS);
/** Pairs with different keys: Plimsoll refuses duplicates, which kubectl does not. */
const pairs = fc.uniqueArray(fc.tuple(key, scalar), {
  minLength: 1,
  maxLength: 5,
  selector: ([name]) => sameKey(name),
});

function sameKey(name: string): string {
  return { on: 'y', "'1'": '1' }[name] ?? name;
}

const flow = pairs
  .filter((entries) => entries.every(([, value]) => !ODD_IN_BRACES.includes(value)))
  .map((entries) => `data: {${entries.map(([name, value]) => `${name}: ${value}`).join(', ')}}`);
const block = pairs.map((entries) => ['data:', ...entries.map(([name, value]) => `  ${name}: ${value}`)].join('\n'));
const list = fc
  .array(scalar, { minLength: 1, maxLength: 4 })
  .map((items) => ['data:', ...items.map((each) => `- ${each}`)].join('\n'));
const anchors = fc.tuple(inBraces, inBraces, fc.boolean()).map(([one, two, first]) => {
  const merged = first ? '{<<: *a, x: 2, z: 3}' : '{x: 2, <<: *a, z: 3}';
  return `base: &a {x: ${one}, y: &b ${two}}\ndata: ${merged}\nmore: [*b, *b]`;
});
const folded = fc
  .tuple(fc.constantFrom('|', '>', '|-', '>+', '|2'), fc.constantFrom('  x\n  y\n', '  x\n\n   y\n', '  - a\n  # b\n'))
  .map(([style, text]) => `data: ${style}\n${text}last: 01`);
const gap = fc.constantFrom('', ' ', '\n', '\n ', '\n    ', '\n\n', '\n\n  ', '\n# c\n', '\r\n');
const quotable = fc.constantFrom('a', 'b: c', '- d', '# e', 'it', '{', ']', ',', '1_0', '', '\n\t');
/** Not with a tab in front: some lines that begin so are refused by both, and some by Plimsoll alone. */
const untabbed = inBraces.filter((text) => text !== '\ta');
const item = fc.oneof(untabbed, fc.constantFrom('"x\ny"', "'x\n\ny'", '{a: \nb}'));
const entries = fc.uniqueArray(fc.tuple(key, untabbed, gap, gap), {
  minLength: 1,
  maxLength: 4,
  selector: ([name]) => sameKey(name),
});
/** Lines inside braces and quotes, which kubectl takes wherever they begin. */
const inside = fc
  .tuple(
    fc.constantFrom('data: ', 'x:\n  data: ', 'x:\n- ', 'x:\n  - y: ', 'x:\n    - - ', '"x y": ', 'x: !!map '),
    fc.oneof(
      fc
        .tuple(entries, gap)
        .map(([each, last]) => `{${each.map(([name, value, a, b]) => `${a}${name}: ${b}${value}`).join(',')}${last}}`),
      fc
        .array(fc.tuple(gap, item, gap), { maxLength: 3 })
        .map((items) => `[${items.map((each) => each.join('')).join(',')}]`),
      fc
        .tuple(fc.constantFrom('"', "'"), fc.array(fc.tuple(quotable, gap), { maxLength: 4 }))
        .map(([quote, parts]) => `${quote}${parts.flat().join('')}${quote}`),
    ),
    fc.constantFrom('', ' # end', '\nlast: 01', '\nlast: {\na: 1\n}', '\nlast: |\n  "a\n  {\n'),
  )
  .map((parts) => parts.join(''));
const strange = fc.constantFrom(
  'data:\n\ta: b',
  'data:\n  a:\tb',
  'data: *none',
  'data: {a: b',
  'data: {? [a] : b}',
  'data: [a, , b]',
  'data: a: b',
  'data:\n a: b\n  c: d',
  '# only',
  'data: "a',
  '<<: {kind: Secret}',
  'data: !!map {a: b}',
  'data: {"a":1}',
  'data: {a:1}',
);

const HEAD = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n';
const withHead = (body: string): string => `${HEAD}${body}\n`;
const indented = fc
  .oneof({ weight: 4, arbitrary: flow }, { weight: 4, arbitrary: block }, list, anchors, folded, strange)
  .map(withHead);
const yaml = fc.oneof({ weight: 5, arbitrary: indented }, inside.map(withHead));
const json = fc
  .tuple(fc.constantFrom('x', 'no', '01'), fc.constantFrom('', '\n  '))
  .map(
    ([name, gap]) =>
      `{"apiVersion":"v1",${gap}"kind":"ConfigMap","metadata":{"name":"${name}"},"data":{"a":"\\u00e9"}}`,
  );
const items = fc
  .array(json, { maxLength: 2 })
  .map((each) => `apiVersion: v1\nkind: List\nitems: [${each.join(', ')}]\n`);
const separator = fc.constantFrom('---\n', '--- # next\n', '---  \n', '---\n---\n', '---\r\n', '--- x\n', '----\n');
const part = fc.oneof({ weight: 4, arbitrary: yaml }, json, items, fc.constantFrom('null\n', '', '# nothing\n'));
const head = fc.constantFrom('', '---\n', '\ufeff', '# first\n', '\n\n');

/** With a tab where people hit the key: for a space, at the start of a line, or behind an indicator. */
const tabbed = fc.tuple(fc.oneof(indented, json), fc.nat()).map(([text, at]) => {
  const places = [...text.matchAll(/ |^|(?<=[-:?] )/gm)];
  const { index = 0, 0: replaced = '' } = places[at % places.length] ?? {};
  return `${text.slice(0, index)}\t${text.slice(index + replaced.length)}`;
});

/** Texts of manifests as people write them, and as nobody should. */
export const manifestTexts = fc.oneof(
  { weight: 3, arbitrary: yaml },
  tabbed,
  fc
    .array(json, { minLength: 1, maxLength: 3 })
    .chain((objects) => fc.constantFrom('\n', '', '\n---\n').map((gap) => objects.join(gap))),
  fc
    .tuple(head, fc.array(fc.tuple(part, separator), { minLength: 1, maxLength: 3 }), part)
    .map(
      ([start, parts, last]) =>
        start + parts.map(([text, end]) => `${text.replace(/([^\n])$/, '$1\n')}${end}`).join('') + last,
    ),
);
