import type { DashboardSources } from '#dashboard/sources.ts';
import type { Overview } from '#dashboard/pods/overview.ts';
import type { PodName, ReadPod } from '#dashboard/pods/read-pod.ts';
import { decodeDisruption } from '#shared/api/disruption.ts';
import { decodePodEvents } from '#shared/decide/pods/pod-events.ts';
import { MINUTE_MS } from '#shared/domain/base/durations.ts';
import { generatedRecords } from './generated-records.ts';

type PodSources = Pick<DashboardSources, 'readPod' | 'podFigures' | 'overview' | 'podNames'>;

const WAITS = 'waits for 2 cpu: queue research is at its maximum 10; before team-2/train-8: it came first';

/** Pods by name: one that waits, one that runs and is in line, one whose controller was refused; others were removed. */
export function generatedPods(now: number): PodSources {
  const time = (agoMs: number) => new Date(now - agoMs).toISOString();
  const written = [
    {
      reason: 'FailedCreate',
      note: 'Error creating: pods "web-5d-abcde" is forbidden: exceeded quota: critical-tier: requests.memory is limited to 2Ti; used 2Ti, requested 1Gi; largest holders: team-1, team-2',
      eventTime: time(MINUTE_MS),
      regarding: { kind: 'ReplicaSet', namespace: 'team-1', name: 'web-5d', uid: 'rs' },
    },
  ];
  const events = decodePodEvents(written, now);
  const records = generatedRecords(now).flatMap((raw) => decodeDisruption(raw) ?? []);
  const removalsOf = ({ namespace, name }: PodName) =>
    records.filter((each) => each.namespace === namespace && each.spec.pod === name);
  const overview: Overview = {
    namespaces: ['kube-system', 'quiet', 'team-0', 'team-1', 'team-2'],
    pending: [
      {
        pod: 'team-1/train-7',
        createdAt: now - 12 * MINUTE_MS,
        priority: 100,
        code: 'AtMaximum',
        why: WAITS,
        queue: 'research',
        requests: '2 cpu, 4Gi memory',
      },
    ],
    notes: [],
  };
  return {
    readPod: (wanted): Promise<ReadPod> => {
      const raw = podOf(wanted, time(12 * MINUTE_MS));
      const evidence = {
        name: wanted.name,
        ...(raw !== undefined && { raw }),
        events: wanted.namespace === 'team-1' ? events : [],
        removals: removalsOf(wanted),
      };
      return Promise.resolve({ kind: 'read', evidence, notes: [] });
    },
    podFigures: (_node, uid) =>
      uid.startsWith('uid-9-')
        ? { pod: '', uid, cpu: '1200m', memory: '512Mi', waiting: undefined as never, oomKills: undefined }
        : undefined,
    overview: () => Promise.resolve(overview),
    podNames: (text) => Promise.resolve(['team-1/web-5d-fghij'].filter((name) => name.startsWith(text))),
  };
}

function podOf({ namespace, name }: PodName, creationTimestamp: string): object | undefined {
  const resources = { requests: { cpu: '2', memory: '4Gi' } };
  const spec = { priority: 100, priorityClassName: 'standard', containers: [{ name: 'main', resources }] };
  const metadata = { namespace, name, creationTimestamp };
  if (name === 'train-7') {
    const conditions = [
      {
        type: 'plimsoll.dev/WaitsInQueue',
        status: 'True',
        reason: 'AtMaximum',
        message: WAITS,
        lastTransitionTime: creationTimestamp,
      },
    ];
    const gates = [{ name: 'plimsoll.dev/queue' }];
    return {
      metadata: { ...metadata, uid: name },
      spec: { ...spec, schedulingGates: gates },
      status: { phase: 'Pending', conditions },
    };
  }
  const [, index, place] = /^worker-(\d+)-(\d+)$/.exec(name) ?? [];
  if (index === undefined) return undefined;
  const nodeName = `node-${index.padStart(3, '0')}`;
  return {
    metadata: { ...metadata, uid: `uid-${index}-${place ?? ''}` },
    spec: { ...spec, nodeName },
    status: { phase: 'Running' },
  };
}
