import { z } from 'zod';
import { SHORTEST_TIMEOUT_SECONDS } from '#shared/kube/webhook-configurations.ts';
import { LOG_FORMATS, LOG_LEVELS } from '#shared/runtime/log.ts';

const port = z.number().int().min(0).max(65_535);
const MIB = 1024 * 1024;

/** `WebhookConfiguration` of config.plimsoll.dev/v1alpha1. */
export const webhookSchema = z.strictObject({
  mode: z.enum(['Enforce', 'DryRun']).default('Enforce').describe('DryRun turns every refusal into a warning'),
  kubeconfig: z
    .string()
    .min(1)
    .optional()
    .describe('Kubeconfig file; without it the mounted service account or PLIMSOLL_SERVER is used'),
  host: z.string().min(1).default('0.0.0.0').describe('Address to answer admission requests on'),
  port: port.default(10_250).describe('Port of the admission requests (TLS); 0 takes a free one'),
  healthHost: z.string().min(1).default('0.0.0.0').describe('Address of health and metrics'),
  healthPort: port.default(8_080).describe('Port of health and metrics (plain); 0 takes a free one'),
  logLevel: z
    .enum(LOG_LEVELS)
    .default('info')
    .describe(`One of ${LOG_LEVELS.join(', ')}`),
  logFormat: z.enum(LOG_FORMATS).default('json').describe('json or text'),
  drainSeconds: z
    .number()
    .min(0)
    .max(60)
    .default(5)
    .describe('How long to stay reachable after SIGTERM before closing'),
  bodyLimitBytes: z
    .number()
    .int()
    .min(1_024)
    .max(64 * MIB)
    .default(3 * MIB)
    .describe('Largest body of a request; each MiB more needs 15 MiB more memory'),
  requestSeconds: z
    .number()
    .min(0.1)
    .lt(SHORTEST_TIMEOUT_SECONDS / 2)
    .default(1.5)
    .describe('How long a request may wait to be read, and then to be decided; both below the registered timeouts'),
  concurrentRequests: z
    .number()
    .int()
    .min(1)
    .max(10_000)
    .default(128)
    .describe(
      'Reviews that may wait for the API server at once, and as many for a quota; more are refused with 429, or stand as they were decided',
    ),
  connections: z
    .number()
    .int()
    .min(16)
    .max(65_535)
    .default(800)
    .describe(
      'Connections at most; the API server opens one for each call at the same time. Each needs some 100 KiB of memory',
    ),
  reservationSeconds: z
    .number()
    .min(10)
    .max(3_600)
    .default(120)
    .describe(
      'How long a pod charged to a PriorityQuota may take to appear; twice the request timeout of the API server',
    ),
  sliceAfterSeconds: z
    .number()
    .min(0)
    .max(86_400)
    .default(30)
    .describe(
      'A replica that has run so long may take a slice of a PriorityQuota, to charge pods without a write each',
    ),
  quotaHoldersNamed: z
    .enum(['All', 'Own'])
    .default('All')
    .describe("Namespaces that a refusal by a PriorityQuota names as its largest holders; Own: the pod's own alone"),
  gatedCallers: z
    .array(z.string().min(1))
    .default([])
    .describe('User names whose evictions and deletions are judged too'),
  evictions: z
    .strictObject({
      perMinute: z
        .number()
        .int()
        .min(0)
        .max(120)
        .default(60)
        .describe("Evictions by Plimsoll's own accounts in the whole cluster per minute; 0 lets none through"),
      configMapName: z
        .string()
        .min(1)
        .optional()
        .describe('ConfigMap in which replicas share the count of evictions; without it each counts alone'),
      configMapNamespace: z.string().min(1).default('plimsoll-system').describe('Namespace of that ConfigMap'),
    })
    .prefault({}),
  tls: z
    .strictObject({
      mode: z
        .enum(['self-signed', 'cert-manager', 'existing-secret'])
        .default('self-signed')
        .describe('Where the certificate comes from'),
      certFile: z.string().min(1).optional().describe('Certificate, PEM; watched'),
      keyFile: z.string().min(1).optional().describe('Private key, PEM; watched'),
      caFile: z.string().min(1).optional().describe('Authority of the certificate, PEM, for the registration'),
      clientCaFile: z.string().min(1).optional().describe('Authority that callers must be certified by; watched'),
      clientNames: z
        .array(z.string().min(1))
        .default([])
        .describe('Names that a caller may have in its certificate; without any, every certified caller is answered'),
      secretName: z
        .string()
        .min(1)
        .optional()
        .describe('Secret in which replicas share the self-made authority; without it each makes its own'),
      secretNamespace: z.string().min(1).default('plimsoll-system').describe('Namespace of that Secret'),
      dnsNames: z
        .array(z.string().min(1))
        .default(['plimsoll-webhook.plimsoll-system.svc', 'localhost'])
        .describe('Names in the self-made certificate'),
      ipAddresses: z.array(z.string().min(1)).default(['127.0.0.1']).describe('Addresses in the self-made certificate'),
      overlapSeconds: z
        .number()
        .min(0)
        .max(86_400)
        .default(60)
        .describe('How long a new authority is trusted before it signs anything'),
      authorityDays: z.number().min(0.0001).max(3_650).default(365).describe('Life of the self-made authority'),
      leafDays: z.number().min(0.0001).max(3_650).default(7).describe('Life of the self-made certificate'),
    })
    .prefault({})
    .refine(
      ({ mode, certFile, keyFile }) => mode === 'self-signed' || (certFile !== undefined && keyFile !== undefined),
      {
        message: 'certFile and keyFile are needed unless mode is self-signed',
      },
    )
    .refine(({ clientCaFile, clientNames }) => clientCaFile !== undefined || clientNames.length === 0, {
      message: 'clientNames need clientCaFile: without it callers show no certificate',
    }),
  leaderElection: z
    .strictObject({
      name: z.string().min(1).default('plimsoll-webhook').describe('Lease by which the replicas elect their leader'),
      namespace: z.string().min(1).default('plimsoll-system').describe('Namespace of that Lease; it must exist'),
    })
    .prefault({}),
  registration: z
    .strictObject({
      mode: z
        .enum(['None', 'CaBundle', 'Full'])
        .default('CaBundle')
        .describe('Full writes both webhook configurations, CaBundle keeps only the authority in them current'),
      url: z
        .string()
        .startsWith('https://')
        .optional()
        .describe('Address to register in place of the Service; "https://HOST:0" takes our port'),
      serviceNamespace: z.string().min(1).default('plimsoll-system').describe('Namespace of our Service'),
      serviceName: z.string().min(1).default('plimsoll-webhook').describe('Name of our Service'),
      servicePort: port.default(443).describe('Port of our Service'),
      failurePolicy: z
        .enum(['Ignore', 'Fail'])
        .default('Ignore')
        .describe('When we cannot be asked: let pods in, or refuse them'),
    })
    .prefault({}),
});

export type WebhookConfiguration = z.output<typeof webhookSchema>;
