import type { KubeClient } from '#shared/kube/client/client.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';
import { NODES, resourcePath } from '#shared/kube/resource.ts';
import { type Manifest, nameOf } from '#cli/manifests/parse-manifests.ts';
import type { KubeRequest } from '#shared/kube/client/connection.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import type { Finding } from './finding.ts';
import { controlGroupsFine, kubeletUnasked, noStalls, oldControlGroups } from './messages.ts';

/** What the kubelet of one node reports about its kernel, for all nodes of the same image. */
export interface NodeKernel {
  readonly nodes: readonly string[];
  /** `undefined` if the kubelet is too old to say. */
  readonly cgroupVersion: number | undefined;
  /** Whether the kubelet measures stalls (PSI); `undefined` if it is too old to report them. */
  readonly hasStalls: boolean | undefined;
}

/** A node whose kubelet could not be queried. */
export interface UnaskedNode {
  readonly node: string;
  readonly message: string;
}

/** Asks through the API server. */
export type KubeletAsker = Pick<KubeClient, 'request' | 'stream'>;

const MAX_ASKED = 10;
const TIMEOUT_MS = 5_000;
/** Fields of `status.nodeInfo`: nodes with equal values have the same image. */
const IMAGE = ['osImage', 'kernelVersion', 'kubeletVersion', 'architecture'];
/** `pkg/kubelet/metrics`, since Kubernetes 1.31. */
const CGROUP_VERSION = 'kubelet_cgroup_version';

/**
 * Queries the kubelet of one node per image, for at most ten images, through the API server; the caller needs
 * permission to `get` nodes/proxy. No agent needs to run.
 */
export async function readNodeKernels(
  client: KubeletAsker,
  nodes: readonly Manifest[],
): Promise<readonly (NodeKernel | UnaskedNode)[]> {
  const images = [...Map.groupBy(nodes, imageOf).values()].slice(0, MAX_ASKED);
  return Promise.all(images.map((group) => askOne(client, group.map(nameOf))));
}

function imageOf({ raw }: Manifest): string {
  const info = fieldOf(raw['status'], 'nodeInfo');
  return JSON.stringify(IMAGE.map((field) => fieldOf(info, field)));
}

async function askOne(client: KubeletAsker, nodes: readonly string[]): Promise<NodeKernel | UnaskedNode> {
  const [node = ''] = nodes;
  const proxy = resourcePath(NODES, { name: node, subresource: 'proxy' });
  const gauge = await readGauge(client, { path: `${proxy}/metrics`, timeoutMs: TIMEOUT_MS }, CGROUP_VERSION);
  if (gauge.kind !== 'ok') return { node, message: gauge.message };
  const summary = await client.request({ path: `${proxy}/stats/summary`, timeoutMs: TIMEOUT_MS });
  const hasStalls = summary.kind === 'ok' ? stallsIn(summary.object) : undefined;
  return { nodes, cgroupVersion: gauge.object, hasStalls };
}

/** On cgroup v1 the kubelet reports zeros; every running node has waited for a CPU at least once. */
function stallsIn(summary: unknown): boolean | undefined {
  const psi = fieldOf(fieldOf(fieldOf(summary, 'node'), 'cpu'), 'psi');
  const total = fieldOf(fieldOf(psi, 'some'), 'total');
  return psi === undefined ? undefined : typeof total === 'number' && total > 0;
}

const MAX_BYTES = 8 * 1_048_576;

/** A gauge without labels from a page of metrics; `undefined` if the page has none. Reads at most 8 MiB. */
async function readGauge(
  client: Pick<KubeClient, 'stream'>,
  request: KubeRequest,
  name: string,
): Promise<Outcome<number | undefined>> {
  const opened = await client.stream({ ...request, accept: 'text/plain' });
  if (opened.kind !== 'ok') return opened;
  try {
    const text = await firstBytes(opened.object);
    const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1];
    return { ...opened, object: value === undefined ? undefined : Number(value) };
  } catch (error) {
    return { kind: 'unreachable', message: `the answer was cut off: ${String(error)}` };
  } finally {
    opened.object.close();
  }
}

async function firstBytes(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MAX_BYTES) break;
  }
  return Buffer.concat(chunks).toString('utf8');
}

type KubeletAnswer = NodeKernel | UnaskedNode;

/** Nodes with cgroup v1, and those whose kubelets could not be queried. */
export function controlGroupFindings(answers: readonly KubeletAnswer[]): readonly Finding[] {
  const known = answers.filter(isKernel);
  const old = known.filter(({ cgroupVersion }) => cgroupVersion === 1).flatMap(({ nodes }) => nodes);
  const current = known.filter(({ cgroupVersion }) => cgroupVersion === 2).flatMap(({ nodes }) => nodes);
  const unasked = answers.flatMap((each) => (isKernel(each) ? [] : [each]));
  return [
    ...(old.length > 0 ? [oldControlGroups(old)] : []),
    ...unasked.map(({ node, message }) => kubeletUnasked(node, message)),
    ...(current.length > 0 ? [controlGroupsFine(current.length)] : []),
  ];
}

/** Nodes with cgroup v2 whose kubelets measure no stalls, if they report them (Kubernetes 1.34 and newer). */
export function unmeasuredStalls(answers: readonly KubeletAnswer[]): readonly Finding[] {
  const without = answers.filter(isKernel).filter(({ cgroupVersion, hasStalls }) => {
    return cgroupVersion === 2 && hasStalls === false;
  });
  return without.length === 0 ? [] : [noStalls(without.flatMap(({ nodes }) => nodes))];
}

function isKernel(answer: KubeletAnswer): answer is NodeKernel {
  return 'nodes' in answer;
}
