import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { at } from '#test/contract/harness.ts';

const FILE = 'deploy/kube-scheduler/configuration.yaml';
const SECOND = 'deploy/components/scheduler-second/configuration.yaml';
const GUIDE = 'docs/guides/scheduler.md';

/** The YAML block of the guide that configures extenders. */
function shown(): unknown {
  const block = /```yaml\n(?<text>extenders:\n[^`]+)```/.exec(readFileSync(GUIDE, 'utf8'));
  return parse(block?.groups?.['text'] ?? '');
}

test('the configuration of a kube-scheduler has the extender of the second scheduler, and the guide shows it', () => {
  const { extenders, profiles } = parse(readFileSync(FILE, 'utf8')) as Readonly<Record<string, unknown>>;
  const { data } = parse(readFileSync(SECOND, 'utf8')) as { readonly data: Readonly<Record<string, string>> };
  expect(profiles).toEqual([{ schedulerName: 'default-scheduler' }]);
  expect(shown()).toEqual({ extenders });
  expect(at(parse(data['scheduler.yaml'] ?? ''), 'extenders')).toEqual(extenders);
});

test('the extender of the second scheduler listens where only its own pod connects', () => {
  const { data } = read(SECOND) as { readonly data: Readonly<Record<string, string>> };
  const url = at(parse(data['scheduler.yaml'] ?? ''), 'extenders.0.urlPrefix');
  const args = at(read('deploy/components/scheduler-second/deployment.yaml'), 'spec.template.spec.containers.0.args');
  expect(url).toBe('http://127.0.0.1:10261');
  expect(args).toEqual(expect.arrayContaining(['--host=127.0.0.1', '--port=10261']));
});

function read(file: string): unknown {
  return parse(readFileSync(file, 'utf8'));
}
