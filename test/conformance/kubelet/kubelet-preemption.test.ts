import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Requirement, kubeletPreemption, mayPreempt } from './kubelet-preemption.ts';
import { pod } from '#test/shared/domain/ranking/builders.ts';

const CRITICAL = pod('critical', { priority: 2_000_000_000 });

function burstable(name: string, memory: string, cpu = '0') {
  return pod(name, { priority: 0, requests: { memory, cpu } });
}

function guaranteed(name: string, memory: string) {
  const resources = { requests: { memory, cpu: '1' }, limits: { memory, cpu: '1' } };
  return pod(name, { priority: 0, spec: { containers: [{ name: 'c', resources }] } });
}

function victims(
  running: Parameters<typeof kubeletPreemption>[1],
  requirements: readonly Requirement[],
): readonly string[] | string {
  const found = kubeletPreemption(CRITICAL, running, requirements);
  return found.kind === 'found' ? found.victims.map(({ name }) => name) : found.message;
}

describe('mayPreempt', () => {
  test.each<[string, Parameters<typeof pod>[1], Parameters<typeof pod>[1], boolean]>([
    ['critical over ordinary', { priority: 2_000_000_000 }, { priority: 1 }, true],
    ['critical over lower critical', { priority: 2_000_001_000 }, { priority: 2_000_000_000 }, true],
    ['critical over equal critical', { priority: 2_000_000_000 }, { priority: 2_000_000_000 }, false],
    ['ordinary over lower', { priority: 2 }, { priority: 1 }, true],
    ['ordinary over one without priority', { priority: 2 }, {}, false],
    ['one without priority over lower', {}, { priority: -5 }, false],
  ])('%s', (_, own, theirs, may) => {
    expect(mayPreempt(pod('a', own), pod('b', theirs))).toBe(may);
  });
});

describe('kubeletPreemption', () => {
  test('needs no pod where nothing is missing', () => {
    expect(victims([burstable('a', '1Gi')], [])).toEqual([]);
  });

  test('takes the pod nearest to what is missing', () => {
    const running = [burstable('large', '4Gi'), burstable('near', '1Gi'), burstable('small', '100Mi')];
    expect(victims(running, [{ resource: 'memory', quantity: 2 ** 30 }])).toEqual(['near']);
  });

  test('of two equally near the smaller, of two equal ones the later', () => {
    const need = [{ resource: 'memory', quantity: 1000 }];
    expect(victims([burstable('a', '3k'), burstable('b', '2k'), burstable('c', '4k')], need)).toEqual(['b']);
    expect(victims([burstable('a', '2k', '1'), burstable('b', '2k', '500m'), burstable('c', '2k', '1')], need)).toEqual(
      ['b'],
    );
    expect(victims([burstable('a', '2k'), burstable('b', '2k')], need)).toEqual(['b']);
  });

  test('spares Guaranteed pods as far as all others can give, and lists BestEffort first', () => {
    const running = [guaranteed('g', '1Gi'), burstable('b', '1Gi'), pod('e', { priority: 0 })];
    expect(victims(running, [{ resource: 'memory', quantity: 2 ** 30 }])).toEqual(['b']);
    const all = [
      { resource: 'memory', quantity: 2 ** 31 },
      { resource: 'pods', quantity: 3 },
    ];
    expect(victims(running, all)).toEqual(['e', 'b', 'g']);
  });

  test('says in the kubelet’s words what no pod can give', () => {
    const need = [
      { resource: 'memory', quantity: 2 ** 31 },
      { resource: 'cpu', quantity: 1500 },
      { resource: 'pods', quantity: 1 },
    ];
    expect(victims([burstable('a', '1Gi', '1')], need)).toBe(
      'no set of running pods found to reclaim resources: [(res: memory, q: 1073741824), (res: cpu, q: 500), ]',
    );
  });

  test('victims always give what is missing, and none of them was out of reach', () => {
    const crowd = fc.array(fc.tuple(fc.nat(8), fc.boolean(), fc.boolean()), { maxLength: 12 });
    fc.assert(
      fc.property(crowd, fc.nat(40), (people, quantity) => {
        const running = people.map(([memory, isGuaranteed, isCritical], index) => {
          const made = isGuaranteed ? guaranteed(`p${index}`, `${memory}`) : burstable(`p${index}`, `${memory}`);
          return isCritical ? { ...made, spec: { ...made.spec, priority: 2_000_000_000 } } : made;
        });
        const found = kubeletPreemption(CRITICAL, running, [{ resource: 'memory', quantity }]);
        const give = (of: typeof running) =>
          of.reduce((sum, each) => sum + Number(people[running.indexOf(each)]?.[0]), 0);
        const reachable = running.filter((each) => mayPreempt(CRITICAL, each));
        if (found.kind === 'impossible') expect(give(reachable)).toBeLessThan(quantity);
        else {
          expect(give([...found.victims])).toBeGreaterThanOrEqual(quantity);
          expect(reachable).toEqual(expect.arrayContaining([...found.victims]));
        }
      }),
    );
  });
});
