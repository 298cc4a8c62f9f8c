import { describe, expect, test } from 'vitest';
import { withDefaultRequests } from '#shared/domain/pod/pod-requests.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import type { Amounts } from '#shared/domain/quantity/quantity.ts';
import type { Container, Resources } from '#shared/domain/pod/pod.ts';
import { amountsOf, buildPod } from '#test/build/cluster.ts';

type Texts = Readonly<Record<string, string>>;

function resources(limits?: Texts, requests?: Texts): Resources {
  return { limits: limits && amountsOf(limits), requests: requests && amountsOf(requests) };
}

function container(limits?: Texts, requests?: Texts): Container {
  return { name: 'c', resources: resources(limits, requests), restartPolicy: undefined, ports: [] };
}

function textsOf(amounts: Amounts | undefined): Texts | undefined {
  return amounts && Object.fromEntries(Array.from(amounts, ([name, amount]) => [name, formatQuantity(amount)]));
}

describe('withDefaultRequests', () => {
  const CONTAINERS: readonly (readonly [string, Container, Texts | undefined])[] = [
    ['limits are requested', container({ cpu: '1', memory: '1Gi' }), { cpu: '1', memory: '1Gi' }],
    ['stated requests stay', container({ cpu: '2', memory: '1Gi' }, { cpu: '1' }), { cpu: '1', memory: '1Gi' }],
    ['without limits nothing is added', container(undefined, { cpu: '1' }), { cpu: '1' }],
    ['nothing stays nothing', container(), undefined],
  ];
  test.each(CONTAINERS)('of a container: %s', (_, given, expected) => {
    const { spec } = withDefaultRequests(
      buildPod({ name: 'p', spec: { containers: [given], initContainers: [given] } }),
    );
    expect([...spec.containers, ...spec.initContainers].map((each) => textsOf(each.resources.requests))).toEqual([
      expected,
      expected,
    ]);
  });

  const PODS: readonly (readonly [string, Resources | undefined, Texts | undefined])[] = [
    ['absent resources stay absent', undefined, undefined],
    ['requests alone stay alone', resources(undefined, { memory: '5Gi' }), { memory: '5Gi' }],
    ['limits are requested where no container requests', resources({ memory: '4Gi' }), { memory: '4Gi', cpu: '1' }],
    ['containers come before limits', resources({ cpu: '4' }), { cpu: '1' }],
    ['stated requests come first', resources({ cpu: '4' }, { cpu: '2' }), { cpu: '2' }],
    ['huge pages come from limits alone', resources({ 'hugepages-2Mi': '4Mi' }), { 'hugepages-2Mi': '4Mi', cpu: '1' }],
  ];
  test.each(PODS)('of a pod: %s', (_, given, expected) => {
    const requested = { cpu: '1', 'example.com/gpu': '1', 'hugepages-2Mi': '2Mi' };
    const containers = [container(undefined, requested)];
    const { spec } = withDefaultRequests(buildPod({ name: 'p', spec: { containers, resources: given } }));
    expect(textsOf(spec.resources?.requests)).toEqual(expected);
  });
});
