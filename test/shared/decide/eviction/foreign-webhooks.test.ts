import { expect, test } from 'vitest';
import { FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import { applyOutcome, type AttemptOutcome, isUnclear } from '#shared/decide/eviction/apply-outcome.ts';
import { decide } from '#shared/decide/eviction/decide.ts';
import { type NodePod, policy, snapshot } from '#test/agent/node-scene.ts';

const MESSAGE = { message: 'failed calling webhook "evictions.example.com"' };
const INTERNAL: AttemptOutcome = { kind: 'serverError', ...MESSAGE, status: 500 };
const TIMEOUT: AttemptOutcome = { kind: 'timeout', ...MESSAGE };
const DENIED: AttemptOutcome = { kind: 'tooManyRequests', cause: 'webhook', ...MESSAGE, retryAfterSeconds: 1 };

const limits = { concurrent: 1, perMinute: 9, perTenMinutes: 9, perNamespacePerTenMinutes: 9 };
const web: NodePod = { name: 'web', requests: { memory: '10Mi' }, usageMiB: 400 };

function virtualMachines(count: number): readonly NodePod[] {
  return Array.from({ length: count }, (_, index) => {
    const name = `vm-${String(index).padStart(2, '0')}`;
    return { ...web, name, owner: name, ownerKind: 'VirtualMachineInstance' };
  });
}

interface Asked {
  readonly at: number;
  readonly name: string;
}

/** Passes every 100 ms for a minute in the severe stage; the answers come in turn, and no pod is harmed. */
function askedInAMinute(answers: readonly AttemptOutcome[], pods: readonly NodePod[]): readonly Asked[] {
  const asked: Asked[] = [];
  let state = FIRST_STATE;
  for (let now = 0; now < 60_000; now += 100) {
    const decision = decide(state, snapshot({ now, availableMiB: 50, pods }), policy({ limits }));
    state = decision.state;
    for (const { pod, mode } of decision.evictions) {
      const answer = answers[asked.length % answers.length] ?? INTERNAL;
      asked.push({ at: now, name: pod.name });
      state = applyOutcome(state, { uid: pod.uid, mode }, answer, now);
      if (isUnclear(answer)) state = applyOutcome(state, { uid: pod.uid, mode }, { kind: 'foundUnharmed' }, now);
    }
  }
  return asked;
}

test.each<[answer: string, answers: readonly AttemptOutcome[]]>([
  ['denies', [DENIED]],
  ['fails', [INTERNAL]],
  ['does not answer', [TIMEOUT]],
  ['fails and denies in turn', [DENIED, INTERNAL]],
  ['fails three times and denies', [INTERNAL, TIMEOUT, INTERNAL, DENIED]],
])(
  '20 virtual machines whose webhook %s are asked for a few times a minute, and hold up no other pod',
  (_, answers) => {
    const asked = askedInAMinute(answers, [...virtualMachines(20), web]);
    expect(asked.find(({ name }) => name === 'web')?.at).toBeLessThan(5000);
    expect(asked.filter(({ name }) => name !== 'web').length).toBeLessThanOrEqual(9);
  },
);
