import { describe, expect, test } from 'vitest';
import { planScenario } from '#sandbox/demo/plan-scenario.ts';
import { findShortcomings, type Happenings, resultLine } from '#sandbox/demo/verdict.ts';

const scenario = planScenario(1);
const { refused, hog, services } = scenario;
const names = services.map(({ namespace, name }) => `${namespace}/${name}`);
const refusedPod = `${refused.namespace}/${refused.name}`;
const hogPod = `${hog.namespace}/${hog.name}`;
const good: Happenings = {
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
    ['the hog stayed', { evicted: [] }, `pod ${hogPod} was not evicted`],
    [
      'another pod went too',
      { evicted: [...good.evicted, { pod: 'team-a/web', because: '' }] },
      'pod team-a/web was evicted though it kept to its request',
    ],
    ['a service was lost', { survived: names.slice(1) }, `service ${names[0] ?? ''} did not survive`],
  ])('tells when %s', (_when, seen, shortcoming) => {
    expect(findShortcomings(scenario, { ...good, ...seen })).toEqual([shortcoming]);
  });
});

test('resultLine is one line of JSON with the agreed names', () => {
  expect(JSON.parse(resultLine({ ...good, secondsToEvict: undefined }))).toEqual({ ...good, secondsToEvict: null });
  expect(resultLine(good)).not.toContain('\n');
});
