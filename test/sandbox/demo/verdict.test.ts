import { describe, expect, test } from 'vitest';
import { planScenario } from '#sandbox/demo/plan-scenario.ts';
import { findShortcomings, type Happenings, resultLine } from '#sandbox/demo/verdict.ts';

const scenario = planScenario(1);
const { refused, hog, services, preemption } = scenario;
const names = services.map(({ namespace, name }) => `${namespace}/${name}`);
const refusedPod = `${refused.namespace}/${refused.name}`;
const hogPod = `${hog.namespace}/${hog.name}`;
const [optedOutPod, yieldingPod, newPod] = [preemption.optedOut, preemption.yielding, preemption.newcomer].map(
  ({ namespace, name }) => `${namespace}/${name}`,
) as [string, string, string];
const preempted = { pod: yieldingPod, madeRoomFor: newPod, because: `pod ${optedOutPod} opted out of preemption` };
const good: Happenings = {
  preempted: [preempted],
  spared: [optedOutPod],
  refused: [{ pod: refusedPod, reason: 'admission webhook "quota.plimsoll.dev" denied the request: quota `critical`' }],
  evicted: [{ pod: hogPod, because: 'The node was low on resource: memory.' }],
  survived: names,
  secondsToEvict: 0.25,
};

describe('findShortcomings', () => {
  test('finds none when all happened', () => {
    expect(findShortcomings(scenario, good)).toEqual([]);
  });

  test.each<[string, Partial<Happenings>, string]>([
    ['no pod was refused', { refused: [] }, `pod ${refusedPod} was not refused by the webhook`],
    [
      'the API server itself refused',
      { refused: [{ pod: refusedPod, reason: 'pods "x" is forbidden: exceeded quota: critical' }] },
      `pod ${refusedPod} was not refused by the webhook`,
    ],
    ['no pod was preempted', { preempted: [] }, `not pod ${yieldingPod} alone was preempted`],
    [
      'the pod that opted out was preempted',
      { preempted: [{ ...preempted, pod: optedOutPod }] },
      `not pod ${yieldingPod} alone was preempted`,
    ],
    [
      'both were preempted',
      { preempted: [preempted, { ...preempted, pod: optedOutPod }] },
      `not pod ${yieldingPod} alone was preempted`,
    ],
    ['the new pod waits', { preempted: [{ ...preempted, madeRoomFor: null }] }, `pod ${newPod} was not placed`],
    [
      'Plimsoll changed nothing',
      { preempted: [{ ...preempted, because: '' }] },
      'Plimsoll gave no reason for changing a preemption',
    ],
    ['the pod that opted out is gone', { spared: [] }, `pod ${optedOutPod} opted out of preemption and does not run`],
    ['the hog stayed', { evicted: [] }, `pod ${hogPod} was not evicted`],
    [
      'another pod went too',
      { evicted: [...good.evicted, { pod: 'team-a/web', because: '' }] },
      'pod team-a/web was evicted though it kept to its request',
    ],
    ['a service was lost', { survived: names.slice(1) }, `service ${names[0] ?? ''} did not survive`],
  ])('tells when %s', (_when, seen, shortcoming) => {
    expect(findShortcomings(scenario, { ...good, ...seen })[0]).toBe(shortcoming);
  });
});

test('resultLine is one line of JSON with the agreed names', () => {
  expect(JSON.parse(resultLine({ ...good, secondsToEvict: undefined }))).toEqual({ ...good, secondsToEvict: null });
  expect(resultLine(good)).not.toContain('\n');
});
