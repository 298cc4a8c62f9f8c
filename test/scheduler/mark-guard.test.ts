import { expect, test } from 'vitest';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { createLog } from '#shared/runtime/log.ts';
import { MarkGuard } from '#scheduler/mark-guard.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';
import { scriptedClient } from '#test/fakes/scripted-client.ts';

type Part = 'validatingadmissionpolicies' | 'validatingadmissionpolicybindings';
const FAILURE = { kind: 'unreachable', message: 'no' } as const;
const MISSING = { kind: 'notFound', message: 'no' } as const;

const since = (creationTimestamp: string): Outcome<unknown> => ({
  kind: 'ok',
  object: { metadata: { name: 'mark.queues.plimsoll.dev', creationTimestamp } },
  warnings: [],
});

interface Parts extends Readonly<Record<Part, Outcome<unknown>>> {
  /** The binding for namespaces whose pods wait, if not as the other one. */
  readonly guard?: Outcome<unknown>;
}

/** Whether marks of pods count that were created at some times, after the first answer. */
async function guardedAt(parts: Parts, times: readonly string[]) {
  const { client } = scriptedClient(({ path }) => {
    const part = path.includes('policybindings') ? 'validatingadmissionpolicybindings' : 'validatingadmissionpolicies';
    return (path.includes('guard.queues') ? parts.guard : undefined) ?? parts[part];
  });
  const log = createLog({ component: 'scheduler', level: 'silent', format: 'json' });
  const guard = new MarkGuard({ extender: 'Off', queues: { passes: 'On' } });
  const ended = new AbortController();
  const followed = guard.follow({ client, clock: manualClock(), log }, ended.signal);
  if (parts.validatingadmissionpolicies === FAILURE) ended.abort();
  await followed;
  ended.abort();
  return times.map((time) => guard.isGuarded(Date.parse(time)));
}

const TIMES = ['2026-01-01T00:00:00Z', '2026-01-01T00:01:09Z', '2026-01-01T00:01:10Z'];

test.each<[string, Outcome<unknown>, Outcome<unknown>, readonly boolean[]]>([
  [
    'policy and binding, ten seconds after the younger one',
    since('2026-01-01T00:00:00Z'),
    since('2026-01-01T00:01:00Z'),
    [false, false, true],
  ],
  ['a policy without a binding', since('2026-01-01T00:00:00Z'), MISSING, [false, false, false]],
  ['neither', MISSING, MISSING, [false, false, false]],
  [
    'no right to read them',
    { kind: 'forbidden', message: 'no' },
    { kind: 'forbidden', message: 'no' },
    [false, false, false],
  ],
  ['no answer', FAILURE, FAILURE, [false, false, false]],
])('marks are guarded by %s', async (_, validatingadmissionpolicies, validatingadmissionpolicybindings, expected) => {
  const parts = { validatingadmissionpolicies, validatingadmissionpolicybindings };
  expect(await guardedAt(parts, TIMES)).toEqual(expected);
});

test.each<[string, Outcome<unknown>, readonly boolean[]]>([
  ['missing', MISSING, [false, false, false]],
  ['younger', since('2026-01-01T00:01:00Z'), [false, false, true]],
])('marks need the binding for namespaces whose pods wait: %s', async (_, guard, expected) => {
  const old = since('2026-01-01T00:00:00Z');
  const parts = { validatingadmissionpolicies: old, validatingadmissionpolicybindings: old, guard };
  expect(await guardedAt(parts, TIMES)).toEqual(expected);
});
