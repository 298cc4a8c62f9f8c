import { fileURLToPath } from 'node:url';
import { createAuthority, issueServerCertificate } from '#shared/http/certificates.ts';
import { apiDouble, type ApiDouble } from '#test/fakes/api-double.ts';
import { createPodReview } from '#test/webhook/support/reviews.ts';
import { startServer, type ServerProcess } from '#test/webhook/support/server-process.ts';
import { startShippedWebhook } from '#test/webhook/support/shipped-webhook.ts';

/** The webhook as shipped and the bare server with Node's default flags, each in its own process. */
export interface Rig {
  readonly webhook: ServerProcess;
  readonly bare: ServerProcess;
  stop(): Promise<void>;
}

export const BENCH_POLICY = {
  metadata: { name: 'tenants' },
  spec: { allowedPriorityClassNames: ['high', 'standard'], requireQuotaFor: ['high'] },
};

export const BENCH_QUOTA = {
  metadata: { name: 'high-tier', namespace: 'team-a' },
  spec: { scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] } },
  status: { hard: { pods: '1000', 'requests.memory': '1Ti' }, used: { pods: '1', 'requests.memory': '1Gi' } },
};

/** A namespace, classes and a policy for the pod of `validateBody`. */
export function putBenchObjects(api: ApiDouble): void {
  const labels = { 'kubernetes.io/metadata.name': 'team-a', 'plimsoll.dev/priority-quota': 'enforced' };
  api.put('/api/v1/namespaces', { metadata: { name: 'team-a', labels } });
  for (const [name, value] of [
    ['high', 1_000],
    ['standard', 100],
    ['batch', 10],
  ] as const) {
    api.put('/apis/scheduling.k8s.io/v1/priorityclasses', {
      metadata: { name },
      value,
      preemptionPolicy: 'PreemptLowerPriority',
    });
  }
  api.put('/apis/plimsoll.dev/v1alpha1/prioritypolicies', BENCH_POLICY);
}

/** Both servers, and a cluster with a ResourceQuota, too, so that every rule has work to do. */
export async function startRig(): Promise<Rig> {
  const api = await apiDouble();
  putBenchObjects(api);
  api.put('/api/v1/resourcequotas', BENCH_QUOTA);
  const now = Date.now();
  const authority = createAuthority({ commonName: 'bench', days: 1, now });
  const leaf = issueServerCertificate(authority, { dnsNames: ['localhost'], ipAddresses: ['127.0.0.1'], days: 1, now });
  const webhook = await startShippedWebhook(api);
  const bare = await startServer({
    nodeFlags: [],
    file: fileURLToPath(new URL('bare-server.ts', import.meta.url)),
    args: [],
    env: { BENCH_CERT: leaf.certPem, BENCH_KEY: leaf.keyPem },
  });
  return {
    webhook,
    bare,
    stop: async () => {
      await Promise.all([webhook.stop(), bare.stop()]);
      await api.close();
    },
  };
}

/** A review of a pod of about 6 KB that is complete and allowed, as the validating phase sees most of them. */
export function validateBody(): string {
  return createPodReview(
    sixKilobytePod({ priorityClassName: 'high', priority: 1_000, preemptionPolicy: 'PreemptLowerPriority' }),
  );
}

/** The same pod before the mutating phase: its answer carries a patch. */
export function mutateBody(): string {
  return createPodReview(sixKilobytePod({ priorityClassName: 'high' }));
}

function sixKilobytePod(priority: object): Record<string, unknown> {
  const env = Array.from({ length: 30 }, (_, index) => ({
    name: `SETTING_${index}`,
    value: `https://service-${index}.team-a.svc.cluster.local:8443/path`,
  }));
  const container = (name: string) => ({
    name,
    image: `registry.local/team-a/${name}:1.2.3`,
    env,
    resources: { requests: { cpu: '250m', memory: '512Mi' }, limits: { cpu: '1', memory: '1Gi' } },
    volumeMounts: [{ name: 'config', mountPath: '/etc/config', readOnly: true }],
  });
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'web-6c4f9d7b8-x2x9z',
      namespace: 'team-a',
      uid: '6c484985-95bd-4fd3-9fbc-ac90ad1323ce',
      labels: { app: 'web', 'pod-template-hash': '6c4f9d7b8' },
      managedFields: [
        {
          manager: 'kube-controller-manager',
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:spec': { 'f:priorityClassName': {} } },
        },
      ],
    },
    spec: {
      ...priority,
      containers: [container('web'), container('proxy')],
      volumes: [{ name: 'config', configMap: { name: 'web' } }],
      serviceAccountName: 'web',
    },
    status: { phase: 'Pending', qosClass: 'Burstable' },
  };
}
