import { z } from 'zod';
import { ALL_ADDRESSES } from '#shared/http/addresses.ts';
import { NAMESPACE_SYSTEM } from '#shared/kube/api-names.ts';
import { SHORTEST_TIMEOUT_SECONDS } from '#shared/kube/admission/webhook-configurations.ts';
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
    .describe('Kubeconfig file; if unset, the mounted service account or PLIMSOLL_SERVER is used'),
  host: z.string().min(1).default(ALL_ADDRESSES).describe('Listen address for admission requests'),
  port: port.default(10_250).describe('Port for admission requests (TLS); 0 chooses a free one'),
  healthHost: z.string().min(1).default(ALL_ADDRESSES).describe('Listen address for health checks and metrics'),
  healthPort: port.default(8_080).describe('Port for health checks and metrics (no TLS); 0 chooses a free one'),
  logLevel: z
    .enum(LOG_LEVELS)
    .default('info')
    .describe(`One of ${LOG_LEVELS.join(', ')}`),
  logFormat: z.enum(LOG_FORMATS).default('json').describe('json or text'),
  drainSeconds: z.number().min(0).max(60).default(5).describe('Seconds to keep answering after SIGTERM before closing'),
  bodyLimitBytes: z
    .number()
    .int()
    .min(1_024)
    .max(64 * MIB)
    .default(3 * MIB)
    .describe('Largest request body in bytes; each additional MiB needs 15 MiB of memory'),
  requestSeconds: z
    .number()
    .min(0.1)
    .lt(SHORTEST_TIMEOUT_SECONDS / 2)
    .default(1.5)
    .describe(
      'Seconds that a request may take to be read, and again to be decided; must be below the registered timeouts',
    ),
  concurrentRequests: z
    .number()
    .int()
    .min(1)
    .max(10_000)
    .default(128)
    .describe(
      'Reviews that may wait for the API server at once, and as many again for a quota; above this, a review gets 429 or its unconfirmed decision',
    ),
  connections: z
    .number()
    .int()
    .min(16)
    .max(65_535)
    .default(800)
    .describe(
      'Maximum number of connections; the API server opens one per concurrent call. Each needs about 100 KiB of memory',
    ),
  reservationSeconds: z
    .number()
    .min(10)
    .max(3_600)
    .default(120)
    .describe(
      'Seconds that a pod charged to a PriorityQuota may take to appear; recommended: twice the request timeout of the API server',
    ),
  sliceAfterSeconds: z
    .number()
    .min(0)
    .max(86_400)
    .default(30)
    .describe(
      'Seconds that a replica must have run before it may take a slice of a PriorityQuota, from which it charges pods without a write each',
    ),
  quotaHoldersNamed: z
    .enum(['All', 'Own'])
    .default('All')
    .describe(
      "Namespaces that a refusal by a PriorityQuota may name as its largest holders; Own: only the pod's own namespace",
    ),
  gatedCallers: z
    .array(z.string().min(1))
    .default([])
    .describe('Additional user names whose evictions and deletions are checked'),
  avoidNodes: z
    .enum(['On', 'Off'])
    .default('On')
    .describe('On gives a new pod a preference against nodes whose avoid list names its controller'),
  evictions: z
    .strictObject({
      perMinute: z
        .number()
        .int()
        .min(0)
        .max(120)
        .default(60)
        .describe("Evictions per minute by Plimsoll's own accounts in the whole cluster; 0 allows none"),
    })
    .prefault({}),
  tls: z
    .strictObject({
      mode: z
        .enum(['self-signed', 'cert-manager', 'existing-secret'])
        .default('self-signed')
        .describe('Source of the serving certificate'),
      certFile: z.string().min(1).optional().describe('Serving certificate file (PEM); reloaded on change'),
      keyFile: z.string().min(1).optional().describe('Private key file (PEM); reloaded on change'),
      caFile: z.string().min(1).optional().describe('CA file of the serving certificate (PEM), for the registration'),
      clientCaFile: z
        .string()
        .min(1)
        .optional()
        .describe('CA file (PEM) that must have signed client certificates; reloaded on change'),
      clientNames: z
        .array(z.string().min(1))
        .default([])
        .describe(
          'Common names allowed in client certificates; if empty, every client with a valid certificate is allowed',
        ),
      secretName: z
        .string()
        .min(1)
        .optional()
        .describe('Secret in which replicas share the self-signed CA; if unset, each replica creates its own'),
      secretNamespace: z.string().min(1).default(NAMESPACE_SYSTEM).describe('Namespace of that Secret'),
      dnsNames: z
        .array(z.string().min(1))
        .default([`plimsoll-webhook.${NAMESPACE_SYSTEM}.svc`, 'localhost'])
        .describe('DNS names in the self-signed certificate'),
      ipAddresses: z
        .array(z.string().min(1))
        .default(['127.0.0.1', '::1'])
        .describe('IP addresses in the self-signed certificate'),
      overlapSeconds: z
        .number()
        .min(0)
        .max(86_400)
        .default(60)
        .describe('Seconds for which a new CA is trusted before it signs certificates'),
      authorityDays: z.number().min(0.0001).max(3_650).default(365).describe('Lifetime of the self-signed CA in days'),
      leafDays: z
        .number()
        .min(0.0001)
        .max(3_650)
        .default(7)
        .describe('Lifetime of the self-signed certificate in days'),
    })
    .prefault({})
    .refine(
      ({ mode, certFile, keyFile }) => mode === 'self-signed' || (certFile !== undefined && keyFile !== undefined),
      {
        message: 'certFile and keyFile are required unless mode is self-signed',
      },
    )
    .refine(({ clientCaFile, clientNames }) => clientCaFile !== undefined || clientNames.length === 0, {
      message: 'clientNames requires clientCaFile: without it, clients present no certificate',
    }),
  leaderElection: z
    .strictObject({
      name: z.string().min(1).default('plimsoll-webhook').describe('Lease with which the replicas elect a leader'),
      namespace: z.string().min(1).default(NAMESPACE_SYSTEM).describe('Namespace of that Lease; it must exist'),
    })
    .prefault({}),
  registration: z
    .strictObject({
      mode: z
        .enum(['None', 'CaBundle', 'Full'])
        .default('CaBundle')
        .describe('Full writes both webhook configurations; CaBundle only keeps their CA bundle current'),
      url: z
        .string()
        .startsWith('https://')
        .optional()
        .describe(
          'URL to register instead of the Service; in "https://HOST:0" the port is replaced by the listening port',
        ),
      serviceNamespace: z.string().min(1).default(NAMESPACE_SYSTEM).describe('Namespace of the webhook Service'),
      serviceName: z.string().min(1).default('plimsoll-webhook').describe('Name of the webhook Service'),
      servicePort: port.default(443).describe('Port of the webhook Service'),
      failurePolicy: z
        .enum(['Ignore', 'Fail'])
        .default('Ignore')
        .describe(
          'What the API server does when the webhook does not answer: allow the request (Ignore) or refuse it (Fail)',
        ),
    })
    .prefault({}),
});

export type WebhookConfiguration = z.output<typeof webhookSchema>;
