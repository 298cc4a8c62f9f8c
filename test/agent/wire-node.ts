import type { StoredObject } from '#test/fakes/stored-objects.ts';
import { MIB } from './node-scene.ts';

export interface WirePod {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly priority?: number;
  readonly requestMiB?: number;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** A pod as the API server sends it, bound to the node `n1`. */
export function wirePod({
  name,
  namespace = 'default',
  uid,
  priority = 0,
  requestMiB,
  annotations = {},
}: WirePod): StoredObject {
  const requests = requestMiB === undefined ? {} : { memory: `${requestMiB}Mi` };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, uid: uid ?? `uid-${name}`, annotations },
    spec: {
      nodeName: 'n1',
      priority,
      terminationGracePeriodSeconds: 1,
      containers: [{ name: 'main', resources: { requests } }],
    },
    status: { phase: 'Running', startTime: '2026-01-01T00:00:00Z', qosClass: 'Burstable' },
  };
}

/** The node's summary, measured `ageMs` ago: memory in MiB, and what each pod uses. */
export function wireSummary(
  availableMiB: number,
  capacityMiB: number,
  usageMiB: Readonly<Record<string, number>>,
  ageMs = 0,
): object {
  const time = new Date(Date.now() - ageMs).toISOString();
  const pods = Object.entries(usageMiB).map(([name, usage]) => {
    const memory = { time, workingSetBytes: usage * MIB };
    return {
      podRef: { name, namespace: 'default', uid: `uid-${name}` },
      memory,
      containers: [{ name: 'main', memory }],
    };
  });
  const memory = { time, availableBytes: availableMiB * MIB, workingSetBytes: (capacityMiB - availableMiB) * MIB };
  return { node: { nodeName: 'n1', memory }, pods };
}
