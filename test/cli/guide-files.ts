import { EXAMPLE_DISRUPTIONS } from './disruptions/example-disruptions.ts';
import { EXAMPLE_QUEUES } from './example-queues.ts';
import { EXAMPLE_CLUSTER, examplePod } from './example-cluster.ts';
import { NODE_PRESSURES, takenList } from './node-pressures.ts';

/** Stays away from the whole zone of the ledger. */
const STANDBY = examplePod({
  name: 'standby-0',
  namespace: 'payments',
  className: 'critical',
  priority: 1000,
  cpu: '100m',
  spec: {
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: 'topology.kubernetes.io/zone', labelSelector: { matchLabels: { app: 'ledger' } } },
        ],
      },
    },
  },
});
const QUOTA = {
  apiVersion: 'plimsoll.dev/v1alpha1',
  kind: 'PriorityQuota',
  metadata: { name: 'critical' },
  spec: { priorityClassNames: ['critical'], hard: { 'requests.cpu': '10' } },
  status: { used: { 'requests.cpu': '3' }, byNamespace: [{ namespace: 'payments', used: { 'requests.cpu': '3' } }] },
};

/** The files that docs/guides/command-line.md speaks of. */
export const GUIDE_FILES: Readonly<Record<string, string>> = {
  'cluster.json': takenList([...EXAMPLE_CLUSTER, STANDBY, ...NODE_PRESSURES, QUOTA, ...EXAMPLE_DISRUPTIONS]),
  'queues.json': takenList(EXAMPLE_QUEUES),
  'usage.txt': 'reports/archive-0 1500Mi\n',
};
