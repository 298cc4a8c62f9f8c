import { z } from 'zod';
import { ALL_ADDRESSES } from '#shared/http/addresses.ts';
import type { Renamed } from '#shared/runtime/settings.ts';
import { LOG_FORMATS, LOG_LEVELS } from '#shared/runtime/log.ts';
import { disruptionsSchema } from './disruptions/record-disruptions.ts';
import { nodesSchema } from './nodes/nodes-configuration.ts';
import { reschedulingSchema } from './rescheduling/run-rescheduler.ts';
import { loopsSchema } from './preemptions/preemption-loops.ts';
import { NAMESPACE_SYSTEM } from '#shared/kube/api-names.ts';

const port = z.number().int().min(0).max(65_535);
const MIB = 1024 * 1024;

const file = z.string().min(1).optional();
const WHOLE_PAIR = { message: 'certFile and keyFile are needed together' };

/** `SchedulerConfiguration` of config.plimsoll.dev/v1alpha1. */
export const schedulerSchema = z.strictObject({
  kubeconfig: z
    .string()
    .min(1)
    .optional()
    .describe('Kubeconfig file; without it the mounted service account or PLIMSOLL_SERVER is used'),
  host: z.string().min(1).default(ALL_ADDRESSES).describe('Address that the extender listens on'),
  port: port.default(10_260).describe('Port of the extender; 0 takes a free one'),
  healthHost: z.string().min(1).default(ALL_ADDRESSES).describe('Address of health and metrics'),
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
    .describe('How long to keep answering after SIGTERM before closing, in seconds'),
  bodyLimitBytes: z
    .number()
    .int()
    .min(1_024)
    .max(256 * MIB)
    .default(16 * MIB)
    .describe('Largest request body in bytes. A larger preempt request gets no nodes; other verbs answer 413'),
  tls: z
    .strictObject({
      ...keyPairFiles('extender'),
      clientCaFile: file.describe('CA file, PEM; only clients with a certificate of this CA are answered'),
    })
    .prefault({})
    .refine(isWholePair, WHOLE_PAIR)
    .refine(({ certFile, clientCaFile }) => clientCaFile === undefined || certFile !== undefined, {
      message: 'clientCaFile requires certFile: without TLS, clients present no certificate',
    }),
  dashboard: z
    .strictObject({
      host: z.string().min(1).default(ALL_ADDRESSES).describe('Address to serve the dashboard on'),
      port: port.optional().describe('Port of the dashboard, usually 8081; without it there is no dashboard'),
      clusterName: z
        .string()
        .min(1)
        .max(253)
        .optional()
        .describe('Name of the cluster, shown on every page of the dashboard'),
      tls: z
        .strictObject({
          ...keyPairFiles('dashboard'),
          frontProxyCaFile: file.describe(
            'CA file of the front proxy, PEM; only the proxy can connect, and X-Remote-User names the user',
          ),
        })
        .prefault({})
        .refine(isWholePair, WHOLE_PAIR)
        .refine(({ certFile, frontProxyCaFile }) => frontProxyCaFile === undefined || certFile !== undefined, {
          message: 'frontProxyCaFile needs certFile and keyFile',
        }),
    })
    .prefault({}),
  budgets: z
    .enum(['BestEffort', 'Hard'])
    .default('BestEffort')
    .describe('Hard removes nodes on which a preemption would violate a PodDisruptionBudget'),
  usageAware: z
    .boolean()
    .default(false)
    .describe(
      'Among equal choices prefer victims that use more than they request, and nodes on which a threshold is met; false leaves the choice to kube-scheduler',
    ),
  tieBreak: z
    .enum(['none', 'qos'])
    .default('none')
    .describe('qos preempts BestEffort before Burstable before Guaranteed pods of equal priority on a node'),
  maxRequests: z
    .number()
    .int()
    .min(1)
    .max(1_000)
    .default(16)
    .describe(
      'Maximum open requests. Above this, only protection is checked: preempt drops nodes with protected victims, filter allows all nodes',
    ),
  extender: z
    .enum(['On', 'Off'])
    .default('On')
    .describe('Off reads no pods and answers without a decision: for a process that is only the node controller'),
  leaderElection: z
    .strictObject({
      name: z
        .string()
        .min(1)
        .optional()
        .describe(
          'Lease that elects the leader of all parts of this process; default: plimsoll-controller, or the Lease of the part if one part is on',
        ),
      namespace: z.string().min(1).default(NAMESPACE_SYSTEM).describe('Namespace of all Leases; it must exist'),
    })
    .prefault({}),
  preemptionLoops: loopsSchema,
  nodes: nodesSchema,
  disruptions: disruptionsSchema,
  queues: z
    .strictObject({
      passes: z
        .enum(['Off', 'On'])
        .default('Off')
        .describe(
          'On lets pods of managed namespaces in when their queue has room, on one replica; reads all pods, also without the extender',
        ),
    })
    .prefault({}),
  rescheduling: reschedulingSchema,
});

/** Keys of earlier versions, which are refused with the key or the field to use instead. */
export const RENAMED: Renamed = {
  queues: 'queues.passes',
  ...movedTo('Queue root', {
    'spec.reclaim.mode': ['queues.reclaim', 'reclaim'],
    'spec.reclaim.by': ['queues.reclaimBy', 'reclaimBy'],
    'spec.reclaim.overuse': ['queues.reclaimOveruse', 'reclaimOveruse'],
    'spec.reclaim.replacements': ['queues.replacements', 'queueReplacements'],
  }),
  ...movedTo('DisruptionPolicy plimsoll', {
    'spec.retention.period': ['disruptions.keepDays'],
    'spec.retention.perNamespace': ['disruptions.keepPerNamespace'],
    'spec.retention.total': ['disruptions.keepInAll'],
  }),
  ...movedTo('the NodePressurePolicy of the nodes', {
    'spec.avoidance.mode': ['nodes.avoidance'],
    'spec.avoidFor': ['nodes.avoidForSeconds'],
    'spec.avoidance.longest': ['nodes.longestAvoidSeconds'],
    'spec.avoidance.loop.rounds': ['nodes.loopRounds'],
    'spec.avoidance.loop.window': ['nodes.loopWindowSeconds'],
    'spec.avoidance.loop.action': ['nodes.loopAction'],
    'spec.taints.mode': ['nodes.taints'],
    'spec.taints.families': ['nodes.families'],
    'spec.taints.transitionPeriod': ['nodes.transitionSeconds'],
    'spec.taints.unknownPeriod': ['nodes.unknownSeconds'],
  }),
  queueLease: 'leaderElection',
  'queueLease.name': 'leaderElection.name',
  'queueLease.namespace': 'leaderElection.namespace',
  ...Object.fromEntries(
    ['nodes', 'disruptions', 'rescheduling', 'preemptionLoops'].flatMap((part) => [
      [`${part}.leaseName`, 'leaderElection.name'],
      [`${part}.leaseNamespace`, 'leaderElection.namespace'],
    ]),
  ),
};

function movedTo(of: string, fields: Readonly<Record<string, readonly string[]>>): Renamed {
  const keys = Object.entries(fields).flatMap(([field, former]) => former.map((key) => [key, { field, of }] as const));
  return Object.fromEntries(keys);
}

export type SchedulerConfiguration = z.output<typeof schedulerSchema>;

function keyPairFiles(listener: string) {
  return {
    certFile: file.describe(`Certificate, PEM, reloaded on change; without it the ${listener} speaks plain HTTP`),
    keyFile: file.describe('Private key, PEM, reloaded on change'),
  };
}

type KeyPair = Readonly<Partial<Record<'certFile' | 'keyFile', string | undefined>>>;

function isWholePair({ certFile, keyFile }: KeyPair): boolean {
  return (certFile === undefined) === (keyFile === undefined);
}
