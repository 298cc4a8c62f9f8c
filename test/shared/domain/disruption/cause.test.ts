import { describe, expect, test } from 'vitest';
import { causeOf, type Evidence } from '#shared/domain/disruption/cause.ts';
import { CAUSES } from '#shared/domain/disruption/disruption.ts';
import { NO_EVIDENCE } from './seen-removals.ts';

const CORDONED = { isCordoned: true, isSilent: false };
const SILENT = { isCordoned: false, isSilent: true };
const AGENT = {
  code: 'HardThresholdMet',
  text: 'memory.available is 90Mi, below the hard threshold of 100Mi',
  facts: {},
};
const API = 'EvictionByEvictionAPI';
const KUBELET = 'TerminationByKubelet';

/** What Kubernetes 1.36 writes to a pod that it removes: `k8s.io/api/core/v1` types.go, `pkg/kubelet`, `pkg/controller`. */
const TABLE: readonly (readonly [string, Partial<Evidence>, string, string | undefined])[] = [
  ['a scheduler makes room', { disruptionTarget: 'PreemptionByScheduler' }, 'Preemption', undefined],
  ['an agent evicts', { disruptionTarget: API, agent: AGENT }, 'Eviction', 'plimsoll-agent'],
  [
    'an agent evicts from a cordoned node',
    { disruptionTarget: API, agent: AGENT, node: CORDONED },
    'Eviction',
    'plimsoll-agent',
  ],
  [
    'the rescheduler moves a pod',
    { disruptionTarget: API, rescheduler: AGENT },
    'Rescheduling',
    'plimsoll-rescheduling',
  ],
  ['room is reclaimed for a queue', { disruptionTarget: API, queues: AGENT }, 'Reclaim', 'plimsoll-queues'],
  ['another caller evicts from a cordoned node', { disruptionTarget: API, node: CORDONED }, 'Drain', undefined],
  ['another caller evicts', { disruptionTarget: API }, 'Unknown', undefined],
  ['the kubelet evicts', { disruptionTarget: KUBELET, statusReason: 'Evicted' }, 'KubeletEviction', 'kubelet'],
  [
    'the kubelet admits a critical pod',
    { disruptionTarget: KUBELET, statusReason: 'Preempting' },
    'KubeletEviction',
    'kubelet',
  ],
  ['the node shuts down', { disruptionTarget: KUBELET, statusReason: 'Terminated' }, 'NodeLost', 'kubelet'],
  [
    'the kubelet ends it for another reason',
    { disruptionTarget: KUBELET, statusReason: 'Other' },
    'Unknown',
    undefined,
  ],
  ['a taint', { disruptionTarget: 'DeletionByTaintManager' }, 'Taint', undefined],
  ['the taint of a silent node', { disruptionTarget: 'DeletionByTaintManager', node: SILENT }, 'NodeLost', undefined],
  [
    'the taint of a node that is gone',
    { disruptionTarget: 'DeletionByTaintManager', node: undefined },
    'NodeLost',
    undefined,
  ],
  ['an orphan is collected', { disruptionTarget: 'DeletionByPodGC', node: undefined }, 'NodeLost', undefined],
  ['the kernel kills', { isOomKilled: true }, 'OOMKill', undefined],
  ['a deletion', {}, 'Deletion', undefined],
  ['a deletion on a cordoned node', { node: CORDONED }, 'Deletion', undefined],
  ['a removal that was not seen', { isWitnessed: false }, 'Unknown', undefined],
  ['a reason of a later version', { disruptionTarget: 'DeletionByQuantum' }, 'Unknown', undefined],
];

describe('causeOf', () => {
  test.each(TABLE)('%s', (_, evidence, cause, requestedBy) => {
    expect(causeOf({ ...NO_EVIDENCE, ...evidence })).toMatchObject({ cause, requestedBy });
  });

  test('every cause can be shown', () => {
    expect(new Set(TABLE.map(([, , cause]) => cause))).toEqual(new Set(CAUSES));
  });

  test("an agent's report alone shows nothing: without the API server's mark the pod was deleted", () => {
    expect(causeOf({ ...NO_EVIDENCE, agent: AGENT })).toMatchObject({ cause: 'Deletion', requestedBy: undefined });
  });

  test('no text about one cause uses the word of another (S0-1)', () => {
    const texts = TABLE.map(([, evidence]) => causeOf({ ...NO_EVIDENCE, ...evidence }));
    const wordsOf = (text: string) => text.replaceAll('Eviction API', '').match(/preempt|evict|drain|taint/gi) ?? [];
    const own: Readonly<Record<string, RegExp>> = {
      Preemption: /^preempt/i,
      Eviction: /^evict/i,
      KubeletEviction: /^evict/i,
      Drain: /^drain/i,
      Taint: /^taint/i,
    };
    for (const { cause, because } of texts) {
      expect([because.text, wordsOf(because.text).filter((word) => own[cause]?.test(word) !== true)]).toEqual([
        because.text,
        [],
      ]);
    }
  });
});
