import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { encodeAdmitted } from '#shared/api/admitted.ts';
import { type TimedLine, type WildHistory, wildMistakes } from './wild-history.ts';

const MINUTE_MS = 60_000;
const folder = mkdtempSync(join(tmpdir(), 'plimsoll-wild-'));
afterAll(() => rmSync(folder, { recursive: true }));

function lineOf(name: string, metadata: object, spec: object = {}): TimedLine {
  const containers = [{ name: 'main', resources: { requests: { cpu: '3' } } }];
  const object = {
    metadata: { namespace: 'team-a', name, uid: `uid-${name}`, ...metadata },
    spec: { containers, ...spec },
  };
  return { type: 'MODIFIED', object, at: 0 };
}

function letIn(atMs: number): object {
  const mark = { queue: 'team-a', application: 'a', mayPreempt: true, mayBePreempted: true, decision: 'd', at: atMs };
  return { annotations: { 'plimsoll.dev/admitted': encodeAdmitted(mark) } };
}

function mistakes(lines: readonly TimedLine[], evicted: readonly string[] = [], more: Partial<WildHistory> = {}) {
  const auditLog = join(folder, 'audit.log');
  const user = { username: 'system:serviceaccount:plimsoll-system:plimsoll-controller' };
  const entries = evicted.map((name) => ({
    user,
    objectRef: { namespace: name === 'a' ? 'kube-system' : 'team-a', name, subresource: 'eviction' },
    requestURI: '/',
    responseStatus: { code: 201 },
  }));
  writeFileSync(auditLog, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  const queues = [{ metadata: { name: 'team-a' }, spec: { max: { cpu: '4' } } }];
  const none: ReadonlySet<string> = new Set();
  return wildMistakes({ pods: lines, queues, recorded: none, returned: none, auditLog, now: 2 * MINUTE_MS, ...more });
}

describe('a run with wild objects breaks a law', () => {
  test('where a protected pod was evicted, or no record names the eviction', () => {
    const lines = [lineOf('a', { namespace: 'kube-system' }), lineOf('b', {})];
    expect(mistakes(lines, ['a', 'b'], { recorded: new Set(['uid-a']) })).toEqual([
      'evicts uid-a, which is in kube-system',
      'no record of the eviction of team-a/b',
    ]);
  });

  test('where a pod was let in and neither got a node nor gave its share back', () => {
    const lines = [lineOf('a', letIn(0))];
    const now = 8 * MINUTE_MS;
    expect(mistakes(lines, [], { now })).toEqual(['team-a/a was let in and is on no node']);
    expect(mistakes(lines, [], { now, returned: new Set(['uid-a']) })).toEqual([]);
    expect(mistakes([lineOf('a', letIn(0), { nodeName: 'n' })], [], { now })).toEqual([]);
  });

  test('where a queue is above its maximum for more than a minute', () => {
    const lines = ['a', 'b'].map((name) => lineOf(name, letIn(0), { nodeName: 'n' }));
    expect(mistakes(lines)).toEqual(['queue team-a cpu is above its maximum for a minute']);
    const gone = { ...lines[1], type: 'DELETED', at: 30_000 } as TimedLine;
    expect(mistakes([...lines, gone])).toEqual([]);
  });
});
