import { describe, expect, test } from 'vitest';
import { wholeQuantity } from '#shared/domain/pressure/signal.ts';
import { evictionOrder, type NodeScene } from '#shared/decide/simulation/agent-answer.ts';
import { MIB, type NodePod, nodePod, policy, snapshot } from '#test/agent/node-scene.ts';

const HOG: NodePod = { name: 'hog', namespace: 'shop', requests: { memory: '10Mi' }, usageMiB: 300 };
const PODS: readonly NodePod[] = [
  HOG,
  { ...HOG, name: 'ignored', namespace: 'ignored' },
  { ...HOG, name: 'elsewhere', namespace: 'unknown' },
];

function sceneOf(pods: readonly NodePod[]): NodeScene {
  const { usage, avoided, now } = snapshot({ now: 0, pods });
  const ignored = { name: 'ignored', labels: new Map([['plimsoll.dev/ignore', 'true']]) };
  return {
    pods: pods.map(nodePod),
    namespaces: [{ name: 'shop', labels: new Map() }, ignored],
    usage,
    avoided,
    now,
  };
}

const [threshold] = policy().thresholds;
const LEFT = { available: wholeQuantity(50 * MIB, 'BinarySI'), capacity: wholeQuantity(1000 * MIB, 'BinarySI') };
const MET = threshold && ({ threshold, observed: { ...LEFT, at: undefined }, mode: 'Enforce' } as const);

function answer(met: typeof MET, pods: readonly NodePod[]) {
  const { eligible, ineligible, victims } = evictionOrder('memory.available', met, sceneOf(pods), policy());
  return {
    eligible: eligible.map(({ candidate }) => candidate.facts.pod.name),
    ineligible: ineligible.map(({ candidate, because }) => [candidate.facts.pod.name, because.code]),
    victims: victims.map(({ name }) => name),
  };
}

describe('what the agent of a node decides that has evicted no pod yet', () => {
  const eligible = ['hog'];
  const ineligible = [
    ['elsewhere', 'NamespaceUnknown'],
    ['ignored', 'ProtectedNamespace'],
  ];

  test('below a threshold it chooses pods of namespaces that it may touch', () => {
    const { ineligible: found, ...others } = answer(MET, PODS);
    expect({ ...others, ineligible: found.toSorted() }).toEqual({ eligible, ineligible, victims: ['hog'] });
  });

  test('while nothing is short it evicts no pod, and still has its order', () => {
    const { ineligible: found, ...others } = answer(undefined, PODS);
    expect({ ...others, ineligible: found.toSorted() }).toEqual({ eligible, ineligible, victims: [] });
  });

  test('a terminating pod above its request keeps pods within theirs, as on the node', () => {
    const within: NodePod = { name: 'within', namespace: 'shop', requests: { memory: '400Mi' }, usageMiB: 300 };
    const leaving: NodePod = { ...HOG, name: 'leaving', deletion: { at: 0, gracePeriodSeconds: 30 } };
    expect(answer(MET, [within, leaving])).toEqual({
      eligible: [],
      ineligible: [['within', 'AboveRequestHeld']],
      victims: [],
    });
  });
});
