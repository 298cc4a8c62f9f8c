import { z } from 'zod';
import { PSI_SIGNALS } from '#shared/domain/pressure/signal.ts';
import { POLICY_KEYS, type PolicyKeyName } from '#shared/domain/ranking/ranking-order.ts';
import { described } from '#shared/api/schema/crd-words.ts';
import { field, labelSelector, text } from '#shared/api/schema/fields.ts';
import { readTexts, refuseField, type WireObject } from '#shared/kube/decode/wire-object.ts';
import { AVOIDANCE, SPARE, TAINTS } from './node-settings-fields.ts';
import { choice, MODES, readModes, readTable, RECLAIM, SHORT, table, THRESHOLD } from './signal-table.ts';

/*
 * `spec` of a NodePressurePolicy, every field as it is written: durations such as `30s`, percentages such as `5%`,
 * quantities such as `250Mi`. Absent differs from empty: the defaults here are only what the API server writes.
 */

const STALL_SHARE = { pattern: String.raw`^(100|[0-9]{1,2}(\.[0-9]+)?)%$` };

function readRankingKeys(ranking: WireObject, key: string): readonly PolicyKeyName[] | undefined {
  if ((ranking[key] ?? undefined) === undefined) return undefined;
  const names = readTexts(ranking, key);
  const unknown = names.find((name) => !Object.hasOwn(POLICY_KEYS, name));
  if (unknown === undefined) return names as readonly PolicyKeyName[];
  return refuseField(key, `expected ${Object.keys(POLICY_KEYS).join(', ')}, got "${unknown}"`);
}

function count(defaultValue: number, description?: string) {
  const error = ({ input }: { readonly input?: unknown }): string => `expected at least 0, got ${String(input)}`;
  return described(z.int().min(0, { error }).exactOptional(), description, { format: 'int32', defaultValue });
}

const STALL = described(
  z.object({
    signal: z.enum(PSI_SIGNALS, { error: ({ input }) => (input === undefined ? 'expected a signal' : undefined) }),
    stall: choice(['some', 'full'], 'Whether at least one task waits (some), or all tasks at once (full).', 'full'),
    avg10: text('Share of the last 10 seconds, such as 20%.', STALL_SHARE),
    avg60: text('Share of the last 60 seconds.', STALL_SHARE),
    avg300: text('Share of the last 300 seconds.', STALL_SHARE),
    mode: choice(
      MODES,
      "Mode of this threshold. It evicts pods only if both its mode and the policy's mode are Enforce.",
    ),
    whileAvailableBelow: text(
      'The threshold is met only while less than this share of the resource is available.',
      STALL_SHARE,
    ),
  }),
  undefined,
  {
    'x-kubernetes-validations': [
      {
        rule: '[has(self.avg10), has(self.avg60), has(self.avg300)].filter(set, set).size() == 2',
        message: 'must set two of avg10, avg60 and avg300',
      },
      {
        rule: "!has(self.mode) || self.signal == 'memory.pressure'",
        message:
          'may set mode for memory.pressure only; the mode of cpu.pressure is cpu.mode, and io.pressure evicts no pod',
      },
    ],
  },
);
/** An entry of `spec.pressure`; the windows are percentages. */
export type StallSpec = z.output<typeof STALL>;

const CPU = described(
  z.object({
    mode: choice(MODES, undefined, 'DryRun'),
    available: text('Quantity or percentage of available CPU below which the threshold is met.', { maxLength: 64 }),
    gracePeriod: text('Grace period, such as 60s.', { maxLength: 64 }),
  }),
  'CPU thresholds. CPU is compressible, so no pod is evicted for CPU unless this is set.',
);
export type CpuSpec = z.output<typeof CPU>;

const RANKING = described(
  z.object({
    preset: choice(
      ['Kubernetes', 'ShareOfRequest'],
      'Kubernetes: pods that exceed their requests, then lower priority, then usage above requests. ShareOfRequest: lower priority, then usage as a share of requests.',
    ),
    keys: field(
      { read: readRankingKeys, write: (value) => value },
      {
        type: 'array',
        'x-kubernetes-list-type': 'set',
        minItems: 1,
        maxItems: 8,
        items: { type: 'string', enum: Object.keys(POLICY_KEYS) },
        description: 'Sort keys in place of a preset. The first key decides; later keys break ties.',
      },
    ),
    daemonSets: choice(
      ['Last', 'Rank'],
      'Whether pods of DaemonSets come after all other pods (Last) or are ranked like them (Rank).',
      'Last',
    ),
  }),
  'The order in which pods are evicted.',
  {
    'x-kubernetes-validations': [
      { rule: '!(has(self.preset) && has(self.keys))', message: 'must set at most one of preset and keys' },
    ],
  },
);

const LIMITS = described(
  z.object({
    concurrent: count(1, 'In-flight evictions at any time.'),
    perMinute: count(2),
    perTenMinutes: count(4),
    perNamespacePerTenMinutes: count(4),
    perOwnerPerHour: count(
      3,
      'Pods of one controller that may be evicted from a node in an hour. More are evicted only if the kernel would kill a process before the kubelet reacts.',
    ),
  }),
  'How many pods may be evicted from a node. 0 means none.',
);

/** PodDisruptionBudgets are respected in both stages (docs/contributing/decisions/severe-stage.md). */
const BUDGETS = described(
  z.object({
    mild: choice(['Respect'], 'While only soft thresholds are met.', 'Respect'),
    severe: choice(['Respect'], 'While a hard threshold is met.', 'Respect'),
  }),
  "PodDisruptionBudgets are always respected. The kubelet's own thresholds are the backstop.",
);

const PROTECT = described(
  z.object({
    namespaces: described(z.array(z.string()).exactOptional(), undefined, {
      'x-kubernetes-list-type': 'set',
      maxItems: 256,
      items: { type: 'string', minLength: 1, maxLength: 63 },
    }),
    optOutCeiling: described(
      z.int().exactOptional(),
      'Highest priority of pods whose annotation plimsoll.dev/evict=never is honored.',
      { format: 'int32' },
    ),
    optOut: choice(
      ['WithinRequest', 'Always'],
      'Whether plimsoll.dev/evict=never protects a pod above its request while a hard threshold is met (Always) or only a pod within its request (WithinRequest).',
      'WithinRequest',
    ),
    withinRequest: described(
      z.boolean().exactOptional(),
      'Evict pods whose usage is within their requests only while a hard threshold is met.',
      { defaultValue: false },
    ),
  }),
  'Pods that are never evicted, in addition to static pods, pods in kube-system and pods with system priority.',
);

export const NODE_PRESSURE_POLICY_SPEC = described(
  z.object({
    nodeSelector: labelSelector(
      'Labels of the nodes that this policy applies to. If empty or absent, it selects every node.',
    ),
    order: described(
      z.int().exactOptional(),
      'Of several policies that select a node, the one with the highest order applies.',
      { format: 'int32', defaultValue: 0 },
    ),
    mode: choice(MODES, 'DryRun reports evictions without performing them. Enforce evicts pods.', 'DryRun'),
    memoryFigure: choice(
      ['Reclaimable', 'Kubelet'],
      'The figure that memory thresholds are compared with. Reclaimable: memory that processes can still allocate. Kubelet: memory.available as the kubelet computes it, which counts active page cache as used and kernel memory as free.',
      'Reclaimable',
    ),
    evictionHard: table(
      'evictionHard',
      'Hard thresholds by signal, as a quantity or percentage. Below it, a pod is evicted at once and has one second to terminate.',
      { ...SHORT, pattern: THRESHOLD },
      readTable,
    ),
    evictionSoft: table(
      'evictionSoft',
      'Soft thresholds by signal, as a quantity or percentage. Below it, a pod is evicted after the grace period of the signal.',
      { ...SHORT, pattern: THRESHOLD },
      readTable,
    ),
    evictionSoftGracePeriod: table(
      'evictionSoftGracePeriod',
      'Grace period of each soft threshold, such as 30s.',
      SHORT,
      readTable,
    ),
    evictionHardMode: table(
      'evictionHardMode',
      "Mode of single hard thresholds. A threshold evicts pods only if both its mode and the policy's mode are Enforce.",
      { enum: MODES },
      readModes,
    ),
    evictionSoftMode: table(
      'evictionSoftMode',
      "Mode of single soft thresholds. A threshold evicts pods only if both its mode and the policy's mode are Enforce.",
      { enum: MODES },
      readModes,
    ),
    evictionMinimumReclaim: table(
      'evictionMinimumReclaim',
      'Amount by which a signal must rise above its threshold before the pressure counts as resolved, by signal.',
      { ...SHORT, pattern: RECLAIM },
      readTable,
    ),
    evictionPressureTransitionPeriod: text(
      'How long no threshold of a condition may be met before the condition becomes False, such as 5m.',
      { maxLength: 64, defaultValue: '5m' },
    ),
    evictionMaxPodGracePeriod: count(
      30,
      'Longest termination grace period of a pod that a soft threshold evicts, in seconds.',
    ),
    pressure: described(
      z.array(STALL).optional(),
      'Thresholds on pressure stall information (PSI). A threshold is met when two of its windows exceed their share.',
      { maxItems: 3, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['signal'] },
    ),
    cpu: CPU.optional(),
    relief: described(
      z.array(z.enum(['ThrottleCPU', 'Evict'])).exactOptional(),
      'Steps against a shortage of CPU, in this order. ThrottleCPU lowers CPU limits of pods that use more CPU than they request, in the mode cpu.mode, and restores them after the shortage. Pods are evicted for CPU two minutes later at the earliest. Needs Kubernetes 1.35.',
      { 'x-kubernetes-list-type': 'atomic', minItems: 1, maxItems: 2, defaultValue: ['Evict'] },
    ),
    ranking: RANKING.optional(),
    missingStats: choice(
      ['Never', 'Last', 'First'],
      'Whether pods without statistics are evicted never, last or first. Missing data is not treated as zero usage.',
      'Never',
    ),
    limits: LIMITS.optional(),
    minimumRelief: text(
      'While a hard threshold is met, a pod that frees less is skipped if a larger one exceeds its requests. A percentage of what must be freed, or an amount. Default is 5% or 64Mi, whichever is more.',
      { maxLength: 64, pattern: THRESHOLD },
    ),
    budgets: BUDGETS.optional(),
    protect: PROTECT.optional(),
    avoidFor: text('How long replacements of an evicted pod are kept off the node, up to avoidance.longest.', {
      maxLength: 64,
      defaultValue: '10m',
    }),
    avoidance: AVOIDANCE.optional(),
    taints: TAINTS.optional(),
    spare: SPARE.optional(),
  }),
  "Thresholds with the kubelet's own keys, ranking, limits and protection.",
  {
    'x-kubernetes-validations': [
      {
        rule: '!has(self.evictionSoft) || self.evictionSoft.all(signal, has(self.evictionSoftGracePeriod) && signal in self.evictionSoftGracePeriod)',
        message: 'evictionSoftGracePeriod must name every signal of evictionSoft',
      },
      {
        rule: "!has(self.cpu) || !has(self.cpu.mode) || self.cpu.mode == 'DryRun' || self.mode == 'Enforce'",
        message: 'cpu.mode must be DryRun while mode is DryRun',
      },
      {
        rule: "!has(self.relief) || self.relief[size(self.relief) - 1] == 'Evict' && (size(self.relief) == 1 || self.relief[0] == 'ThrottleCPU')",
        message: 'relief must be [Evict] or [ThrottleCPU, Evict]',
      },
      {
        rule: "!has(self.spare) || !has(self.spare.mode) || self.spare.mode != 'Enforce' || self.mode == 'Enforce'",
        message: 'spare.mode must not be Enforce while mode is DryRun: no pod would make way',
      },
    ],
  },
);

export type NodePressurePolicySpec = Partial<z.output<typeof NODE_PRESSURE_POLICY_SPEC>>;
