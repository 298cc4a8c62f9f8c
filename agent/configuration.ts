import { z } from 'zod';
import { LOG_FORMATS, LOG_LEVELS } from '#shared/runtime/log.ts';

const MILLISECONDS_PER_DAY = 86_400_000;
const duration = (least: number) => z.number().int().min(least).max(MILLISECONDS_PER_DAY);

/** What `node agent/main.ts` may be told, in `AgentConfiguration` files, by flags and by the environment. */
export const agentConfiguration = z.strictObject({
  nodeName: z.string().min(1).describe('The node this agent watches; NODE_NAME in the environment does as well'),
  mode: z
    .enum(['Policy', 'DryRun', 'Enforce'])
    .default('Policy')
    .describe('DryRun evicts nobody whatever policies say; Enforce is for nodes without a policy'),
  source: z.enum(['kernel', 'summary']).default('kernel').describe('Where the figures of node and pods come from'),
  path: z
    .strictObject({
      procfs: z.string().default('/proc').describe('Where the host’s /proc is mounted'),
      sysfs: z.string().default('/sys').describe('Where the host’s /sys is mounted'),
      cgroupfs: z.string().optional().describe('The host’s cgroup root, unless it is fs/cgroup below sysfs'),
      kubepods: z
        .string()
        .optional()
        .describe('The group of all pods below each cgroup tree, unless it has a usual name'),
      nodefs: z
        .string()
        .optional()
        .describe('A path on the node’s file system; without it disks are left to the kubelet'),
      imagefs: z.string().optional().describe('A path on the file system of images, where that is another one'),
    })
    .prefault({}),
  kubelet: z
    .strictObject({
      url: z
        .string()
        .optional()
        .describe('Address of the kubelet, https://NODE_IP:10250; an IPv6 address needs no brackets'),
      tokenFile: z.string().optional().describe('Token for the kubelet, unless it is that for the API server'),
      caFile: z.string().optional().describe('Authority of the kubelet’s certificate, unless it is the API server’s'),
      skipTlsVerify: z.boolean().default(false).describe('For kubelets with a certificate they signed themselves'),
    })
    .prefault({}),
  period: z
    .strictObject({
      nearMs: duration(10).default(100).describe('Between looks near a threshold'),
      raceMs: duration(1).default(10).describe('Between looks when a threshold is about to be crossed'),
      farMs: duration(100).default(1000).describe('Between looks far from every threshold'),
      podsMs: duration(100).default(1000).describe('Between looks at the memory of all pods near a threshold'),
      slowMs: duration(1000).default(10_000).describe('Between looks at everything else'),
      statusMs: duration(1000)
        .max(120_000)
        .default(120_000)
        .describe('Between writes of a status in which nothing happens, at most'),
    })
    .prefault({}),
  warmUpMs: z
    .number()
    .int()
    .min(0)
    .max(MILLISECONDS_PER_DAY)
    .default(30_000)
    .describe('After the start nobody is evicted for this long'),
  crossCheck: z
    .strictObject({
      enabled: z.boolean().default(true).describe('Hold the kernel’s figures against those of other sources'),
      tolerancePercent: z.number().min(0.1).max(100).default(5).describe('Of the capacity; beyond it sources disagree'),
    })
    .prefault({}),
  health: z
    .strictObject({
      host: z.string().default('0.0.0.0').describe('Address of health and metrics'),
      port: z.number().int().min(0).max(65_535).default(8080).describe('Port of health and metrics'),
    })
    .prefault({}),
  kubeconfig: z.string().optional().describe('For running outside a cluster'),
  logLevel: z.enum(LOG_LEVELS).default('info').describe('Least level of log lines'),
  logFormat: z.enum(LOG_FORMATS).default('json').describe('json, or text for people'),
});

export type AgentConfiguration = z.output<typeof agentConfiguration>;
