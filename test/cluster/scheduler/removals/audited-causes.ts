import { readFileSync } from 'node:fs';
import type { Cause } from '#shared/domain/disruption/disruption.ts';
import { itemsOf } from '#shared/kube/decode/wire-object.ts';
import { at, textAt } from '#test/contract/harness.ts';

const SCHEDULER = 'system:kube-scheduler';
const CONTROLLERS = 'system:serviceaccount:kube-system:';

/** The nodes that tell causes apart which the API server cannot. */
export interface ToldByNode {
  readonly cordoned: string;
  /** Whose agent reports all evictions there as its own. */
  readonly agent: string;
}

/** By the name of the pod, what first removed it, as the audit log says who asked the API server for what. */
export function auditedCauses(auditLog: string, namespace: string, nodes: ToldByNode): ReadonlyMap<string, Cause> {
  const causes = new Map<string, Cause>();
  const nodeOf = new Map<string, string>();
  for (const line of readFileSync(auditLog, 'utf8').split('\n').slice(0, -1)) {
    const entry: unknown = JSON.parse(line);
    if (!isAboutPodOf(namespace, entry) || isRefused(entry) || isLikeKubelet(entry)) continue;
    const name = String(at(entry, 'objectRef.name') ?? at(entry, 'responseObject.metadata.name'));
    const node = at(entry, 'requestObject.spec.nodeName') ?? at(entry, 'requestObject.target.name');
    if (typeof node === 'string') nodeOf.set(name, node);
    const cause = causeIn(entry, nodeOf.get(name), nodes);
    if (cause !== undefined && !causes.has(name)) causes.set(name, cause);
  }
  return causes;
}

function isAboutPodOf(namespace: string, entry: unknown): boolean {
  return at(entry, 'objectRef.resource') === 'pods' && at(entry, 'objectRef.namespace') === namespace;
}

/** An error of the server leaves open whether the request took effect. */
function isRefused(entry: unknown): boolean {
  const code = Number(at(entry, 'responseStatus.code'));
  return code >= 300 && code < 500;
}

/** Where there is no kubelet, an administrator ends what terminates already; the log has requests as they are answered. */
function isLikeKubelet(entry: unknown): boolean {
  const isOfAdmin = !textAt(entry, 'user.username').startsWith('system:');
  return isOfAdmin && at(entry, 'requestObject.gracePeriodSeconds') === 0;
}

function causeIn(entry: unknown, node: string | undefined, nodes: ToldByNode): Cause | undefined {
  const subresource = at(entry, 'objectRef.subresource');
  const what = [at(entry, 'verb'), ...(subresource === undefined ? [] : [subresource])].join(' ');
  switch (what) {
    case 'create eviction':
      return evictionFrom(node, nodes);
    case 'delete':
      return deletionBy(textAt(entry, 'user.username'));
    case 'patch status':
      return failureIn(at(entry, 'requestObject.status'));
    default:
      return undefined;
  }
}

function evictionFrom(node: string | undefined, { cordoned, agent }: ToldByNode): Cause {
  if (node === agent) return 'Eviction';
  return node === cordoned ? 'Drain' : 'Unknown';
}

function deletionBy(user: string): Cause {
  if (user === SCHEDULER) return 'Preemption';
  if (user === `${CONTROLLERS}pod-garbage-collector`) return 'NodeLost';
  return user.startsWith(CONTROLLERS) ? 'Taint' : 'Deletion';
}

function failureIn(status: unknown): Cause | undefined {
  if (at(status, 'phase') !== 'Failed') return undefined;
  const targets = itemsOf(at(status, 'conditions')).map((each) => at(each, 'reason'));
  if (targets.includes('DeletionByPodGC')) return 'NodeLost';
  return targets.includes('TerminationByKubelet') ? 'KubeletEviction' : 'OOMKill';
}
