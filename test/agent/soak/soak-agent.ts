import { rankingFacts } from '#shared/domain/ranking/candidate.ts';
import { NO_GROUPS } from '#agent/observe/cgroup/pod-rates.ts';
import type { AttemptOutcome } from '#shared/decide/eviction/apply-outcome.ts';
import type { Eviction } from '#shared/decide/eviction/eviction.ts';
import { type PassRunner, createPassRunner } from '#agent/pass.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { QUIET_PORTS } from '#test/agent/pass-ports.ts';
import { nodePod } from '#test/agent/node-scene.ts';
import type { SoakNode, SoakPod } from './soak-node.ts';

/** The agent's surroundings. */
export interface SoakSurroundings {
  readonly node: SoakNode;
  readonly policy: AgentPolicy;
  /** The API server's answer to a request that reached it. */
  readonly answer: (eviction: Eviction, pod: SoakPod) => AttemptOutcome;
}

/** The agent's own passes on a simulated node. */
export function soakAgent(surroundings: SoakSurroundings): PassRunner {
  const { node, policy, answer } = surroundings;
  const namespaces = new Map(['default', 'kube-system'].map((name) => [name, 'open' as const]));
  const podOf = (pod: SoakPod) => nodePod(node.asNodePod(pod));
  // Pods come, change and go at any time, so they are taken in anew at each pass.
  let changed = (): void => undefined;
  const passRunner = createPassRunner({
    ...QUIET_PORTS,
    source: {
      kind: 'kernel',
      readNode: () => node.view(),
      follow: () => undefined,
      usage: () => node.usage(),
      podPressures: () => new Map(),
      containers: () => [],
      whyUnmeasured: () => undefined,
      groups: () => NO_GROUPS,
      fallback: () => undefined,
      health: () => [],
      run: () => Promise.resolve(),
      close: () => undefined,
    },
    pods: {
      alive: () => node.present().map((pod) => ({ facts: rankingFacts(podOf(pod)), observed: observedOf(pod) })),
      endedByKubelet: () => [],
      unreadable: () => [],
      onChange: (listener) => void (changed = listener),
    },
    namespaces: () => namespaces,
    policy: () => policy,
    readFresh: ({ uid }) => {
      const found = node.find(uid);
      return Promise.resolve(
        found === undefined ? { kind: 'gone' } : { kind: 'found', pod: podOf(found), namespace: 'open' },
      );
    },
    attempt: {
      Enforce: (eviction) => {
        const found = node.find(eviction.pod.uid);
        return Promise.resolve(found === undefined ? { kind: 'notFound', message: '' } : answer(eviction, found));
      },
      DryRun: () => Promise.resolve({ kind: 'pretended' }),
    },
    readAgain: ({ pod: { uid } }) => {
      const found = node.find(uid);
      if (found === undefined) return Promise.resolve({ kind: 'foundGone' });
      return Promise.resolve({ kind: found.deletionMs === undefined ? 'foundUnharmed' : 'foundEnding' });
    },
    clock: clockOf(node),
  });
  const pass: PassRunner['pass'] = (signal) => {
    changed();
    return passRunner.pass(signal);
  };
  return { ...passRunner, pass };
}

function observedOf({ uid }: SoakPod) {
  return { uid, cgroup: { uid, qos: 'Burstable' as const }, isRunning: true, containers: [] };
}

function clockOf(node: SoakNode): Clock {
  return { now: () => node.nowMs, monotonic: () => node.nowMs, sleep: () => Promise.resolve() };
}
