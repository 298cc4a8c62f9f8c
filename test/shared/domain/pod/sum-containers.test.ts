import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addAmounts,
  maxAmounts,
  NO_AMOUNTS,
  type Amounts,
  quantityFromInteger,
} from '#shared/domain/quantity/quantity.ts';
import type { Container, Pod } from '#shared/domain/pod/pod.ts';
import { qosClass } from '#shared/domain/pod/pod-requests.ts';
import { isSidecar, sumContainers } from '#shared/domain/pod/pod-resize.ts';
import { buildPod } from '#test/build/cluster.ts';

const SEED = 20_261_122;
const requestsOf = ({ resources }: Container): Amounts => resources.requests ?? NO_AMOUNTS;

/** The rule as component-helpers writes it: whole lists are added and compared, container by container. */
function sumAsUpstream({ spec }: Pod): Amounts {
  let running = spec.containers.reduce<Amounts>((sum, each) => addAmounts(sum, requestsOf(each)), NO_AMOUNTS);
  let sidecars = NO_AMOUNTS;
  let starting = NO_AMOUNTS;
  for (const container of spec.initContainers) {
    const amounts = requestsOf(container);
    if (isSidecar(container)) {
      running = addAmounts(running, amounts);
      sidecars = addAmounts(sidecars, amounts);
      starting = maxAmounts(starting, sidecars);
    } else {
      starting = maxAmounts(starting, addAmounts(amounts, sidecars));
    }
  }
  return maxAmounts(running, starting);
}

function container(requests: Amounts, restartPolicy?: string): Container {
  return { name: 'c', resources: { requests, limits: requests }, restartPolicy, ports: [] };
}

const quantity = fc
  .tuple(fc.integer({ min: -3, max: 5 }), fc.constantFrom('DecimalSI' as const, 'BinarySI' as const))
  .map(([value, format]) => quantityFromInteger(value, format));
const amounts = fc
  .array(fc.tuple(fc.constantFrom('cpu', 'memory', 'a', 'b'), quantity), { maxLength: 4 })
  .map((entries): Amounts => new Map(entries));
const plain = amounts.map((each) => container(each));
const init = fc.tuple(amounts, fc.constantFrom(undefined, 'Always')).map(([each, policy]) => container(each, policy));

describe('sumContainers', () => {
  test('is the sum that component-helpers computes, names in the same order', () => {
    fc.assert(
      fc.property(fc.array(plain, { maxLength: 4 }), fc.array(init, { maxLength: 6 }), (containers, initContainers) => {
        const pod = buildPod({ name: 'web', spec: { containers, initContainers } });
        expect([...sumContainers(pod, requestsOf)]).toEqual([...sumAsUpstream(pod)]);
      }),
      { seed: SEED, numRuns: 2_000 },
    );
  });

  const MANY = 20_000;
  const ENOUGH_MS = 1_000;
  const own = Array.from({ length: MANY }, (_, index) => new Map([[`r${index}`, quantityFromInteger(1, 'DecimalSI')]]));
  const pods: Readonly<Record<string, Pod>> = {
    containers: buildPod({ name: 'web', spec: { containers: own.map((each) => container(each)) } }),
    'init containers': buildPod({ name: 'web', spec: { initContainers: own.map((each) => container(each)) } }),
    sidecars: buildPod({ name: 'web', spec: { initContainers: own.map((each) => container(each, 'Always')) } }),
    'init containers next to a sidecar that names everything': buildPod({
      name: 'web',
      spec: {
        initContainers: [
          container(new Map(own.flatMap((each) => [...each])), 'Always'),
          ...own.map((each) => container(each)),
        ],
      },
    }),
  };
  test.each(Object.entries(pods))(`takes time by the number of names: ${MANY} %s with a name each`, (_, pod) => {
    const before = process.cpuUsage();
    expect(sumContainers(pod, requestsOf).size).toBe(MANY);
    qosClass(pod);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(ENOUGH_MS);
  });
});
