import { describe, expect, test } from 'vitest';
import { unmodelledNeeds } from '#shared/domain/placement/trial/prefilter-state.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { decodeWith } from '#shared/kube/reflector/reflector.ts';
import { buildNode } from '#test/build/cluster.ts';

const snapshot = createSnapshot({
  nodes: [buildNode({ name: 'n0', allocatable: { 'example.com/gpu': '1' } })],
  pods: [],
});

/** As the API server shows the pod. */
function needsOf(spec: object): readonly string[] {
  const pod = decodeWith(decodePod)({ metadata: { name: 'p' }, spec });
  return unmodelledNeeds(pod, snapshot).map(({ kind, name }) => `${kind} ${name}`);
}

function requesting(requests: Readonly<Record<string, string>>): object {
  return { containers: [{ name: 'main', resources: { requests, limits: requests } }] };
}

describe('what a pod needs beyond the model', () => {
  test.each<[string, object, readonly string[]]>([
    ['nothing', requesting({ cpu: '1', memory: '1Gi', 'hugepages-2Mi': '2Mi' }), []],
    [
      'no volume that only the kubelet looks at',
      {
        volumes: [
          { name: 'a', configMap: { name: 'x' } },
          { name: 'b', secret: { secretName: 'x' } },
          { name: 'c', emptyDir: {} },
          { name: 'd', projected: { sources: [] } },
          { name: 'e', hostPath: { path: '/' } },
          { name: 'f', downwardAPI: { items: [] } },
        ],
      },
      [],
    ],
    [
      'volumes that are attached, bound or shared with restrictions',
      {
        volumes: [
          { name: 'claim', persistentVolumeClaim: { claimName: 'x' } },
          { name: 'own', ephemeral: { volumeClaimTemplate: {} } },
          { name: 'inline', csi: { driver: 'x' } },
          { name: 'disk', gcePersistentDisk: { pdName: 'x' } },
        ],
      },
      ['Volume claim', 'Volume own', 'Volume inline', 'Volume disk'],
    ],
    ['dynamic resource claims', { resourceClaims: [{ name: 'gpu', resourceClaimName: 'x' }] }, ['ResourceClaim gpu']],
    [
      'a resource that no node advertises: a DeviceClass may back it',
      requesting({ 'example.com/gpu': '1', 'example.com/fpga': '1' }),
      ['ExtendedResource example.com/fpga'],
    ],
    [
      'a resource that is a DeviceClass by its name',
      requesting({ 'deviceclass.resource.kubernetes.io/gpu': '1' }),
      ['ExtendedResource deviceclass.resource.kubernetes.io/gpu'],
    ],
    ['no resource of which it wants nothing', requesting({ 'example.com/fpga': '0' }), []],
  ])('%s', (_, spec, expected) => {
    expect(needsOf(spec)).toEqual(expected);
  });
});
