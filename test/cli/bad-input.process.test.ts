import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { InputError } from '#cli/process-io.ts';
import { parseManifests } from '#cli/manifests/parse-manifests.ts';
import { requesterOf } from '#cli/review/cluster-state.ts';
import { review } from '#cli/review/review.ts';
import { folderWith, runPlimsoll } from './run-plimsoll.ts';

const POD = 'apiVersion: v1\nkind: Pod\nmetadata: { name: x }\n';
const POLICY = 'apiVersion: plimsoll.dev/v1alpha1\nkind: PriorityPolicy\nmetadata: { name: p }\n';
const BOMB = [
  'a: &a [x, x, x]',
  ...Array.from('bcdefgh', (name, index) => bombLine(name, 'abcdefg'.charAt(index))),
].join('\n');

const FILES: readonly (readonly [string, string, string])[] = [
  [
    'broken YAML',
    `${POD}---\n${POD}  y: 1\n`,
    'document 2: All mapping items must start at the same column at line 8, column 1',
  ],
  ['a tab', `${POD}---\n${POD}spec:\n\tx: 1\n`, 'document 2: Tabs are not allowed as indentation at line 9'],
  ['a doubled key', `${POD}spec:\n  a: 1\n  a: 2\n`, 'document 1: line 6: key "a" stands twice'],
  ['a doubled key in JSON', '{"kind":"Pod",\n"kind":"Job"}', 'document 1: line 2: key "kind" stands twice'],
  ['a bomb of aliases', BOMB, 'document 1: Excessive alias count indicates a resource exhaustion attack'],
  ['an anchor inside itself', 'a: &a\n  b: [*a]\n', 'document 1: anchor a contains itself'],
  ['more aliases than a person writes', `a: &a 1\nb: [${'*a,'.repeat(2_000)}]`, 'more than 1000 aliases in one file'],
  ['a merge of no mapping', 'a: &a 1\n<<: *a\n', 'document 1: Merge sources must be maps or map aliases'],
  ['deep JSON', '['.repeat(8_000_000), 'nested deeper than 200'],
  ['deep YAML', '- '.repeat(20_000), 'document 1: nested too deeply'],
  ['a text of tokens', '- '.repeat(4_000_000), 'more than 2000000 tokens in one file'],
  ['too many documents', '---\n'.repeat(20_000), 'more than 10000 documents in one file'],
  ['no object', 'hello', 'document 1: expected an object'],
  ['no kind', 'apiVersion: v1', 'document 1: kind: expected a text'],
  ['a list without items', 'apiVersion: v1\nkind: List', 'document 1: items: expected a list'],
  ['a nameless item', 'apiVersion: v1\nkind: List\nitems: [{}]', 'document 1, item 1: apiVersion: expected a text'],
  ['a line after a separator', `${POD}--- x\n`, 'line 4: expected only a comment after "---"'],
  ['no number', `${POD}spec: { priority: .nan }\n`, 'document 1: .nan is not a number in JSON at line 4, column 19'],
  [
    'a policy without name',
    POLICY.replace('name: p', ''),
    'document 1: PriorityPolicy "": metadata.name: expected a name',
  ],
  [
    'a policy with a wrong field',
    `${POD}---\n${POLICY}spec: { onViolation: Refuse }\n`,
    'document 2: PriorityPolicy "p": spec.onViolation: expected Deny or Warn, got "Refuse"',
  ],
];

function bombLine(name: string, previous: string): string {
  return `${name}: &${name} [*${previous}, *${previous}, *${previous}, *${previous}, *${previous}]`;
}

describe('input that cannot be used ends with exit code 2 and one line', () => {
  test.each(FILES)('%s', (_, text, message) => {
    const state = { inCluster: [], requester: requesterOf(), namespace: 'default', now: 0 };
    expect(() => review({ ...state, manifests: parseManifests({ name: 'input.yaml', text }) })).toThrow(
      new InputError(`input.yaml: ${message}`),
    );
  });

  test.each([
    ['a bomb of aliases', BOMB, 'document 1: Excessive alias count indicates a resource exhaustion attack'],
    ['9 MiB', `a: "${'x'.repeat(9 * 1024 * 1024)}"`, 'expected at most 8 MiB'],
    ['no UTF-8', Buffer.from([0x61, 0xff]), 'expected text in UTF-8'],
  ])('%s, in a process', async (_, content, message) => {
    const file = join(folderWith({ 'input.yaml': content }), 'input.yaml');
    const run = await runPlimsoll(['review', '-f', file]);
    expect(run).toEqual({ code: 2, stdout: '', stderr: `error: ${file}: ${message}\n` });
  });

  test('a missing file', async () => {
    const run = await runPlimsoll(['review', '-f', 'missing.yaml']);
    const stderr = 'error: missing.yaml: cannot be read: no such file or directory\n';
    expect(run).toEqual({ code: 2, stdout: '', stderr });
  });

  test('nothing at all', async () => {
    expect(await runPlimsoll(['review', '-f', '-'], '# nothing\n')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'error: no objects in -\n',
    });
  });
});

describe('a pod that cannot be read is refused as the webhook refuses it', () => {
  test('by the field that is wrong', async () => {
    const { code, stdout } = await runPlimsoll(['review', '-f', '-'], `${POD}spec: { priority: 1.5 }\n`);
    expect({ code, stdout }).toEqual({
      code: 1,
      stdout:
        'OBJECT          ALLOWED   CODE   MESSAGE\n' +
        'Pod/default/x   false     400    object.spec.priority: expected a whole number, got 1.5\n',
    });
  });

  test('its text steers no terminal', async () => {
    const { stdout } = await runPlimsoll(['review', '-f', '-'], `${POD}spec: { priorityClassName: "\\e[31m\\nx" }\n`);
    expect(stdout.split('\n')).toHaveLength(3);
    expect(stdout).not.toContain('\u001b');
  });
});
