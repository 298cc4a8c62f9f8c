import { decideGroupTemplate, decidePodGroup } from '#shared/domain/admission/decide-group.ts';
import type { AdmissionDecision } from '#shared/domain/admission/decision.ts';
import { allowFor } from '#shared/domain/admission/message.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import type { PodRequest } from '#shared/domain/admission/pod-request.ts';
import { malformed } from '#shared/domain/admission/refusals/invalid-request.ts';
import { decodePodRequest } from '#shared/kube/decode/decode-pod-request.ts';
import type { Decoded } from '#shared/kube/decode/wire-object.ts';
import { fieldOf } from '#shared/kube/kube-object.ts';
import type { Review } from '#webhook/server/decode-review.ts';
import type { AdmissionHandler } from '#webhook/server/review-answerer.ts';
import { decideThenConfirm, type Phase, type PodSources } from './decide-then-confirm.ts';

/** By resource of `scheduling.k8s.io`; neither can be changed later. */
const PHASES: Readonly<Record<string, Phase>> = {
  podgroups: { decide: decidePodGroup, explains: false },
  workloads: { decide: decideGroupTemplate, explains: false },
};

/** Whether a resource is a group of pods that the scheduler places together, or holds templates of such groups. */
export function isGroup({ group, resource }: Review['request']): boolean {
  return group === 'scheduling.k8s.io' && Object.hasOwn(PHASES, resource);
}

/** Handles groups by each class that they name; the first that is refused decides. */
export function groupHandler(sources: PodSources): AdmissionHandler {
  return async (review) => {
    const phase = PHASES[review.request.resource];
    let decision: AdmissionDecision = allowFor(MESSAGES.noTemplate, {});
    for (const name of classNames(review.object)) {
      const group = groupOf(name, review.request);
      if (phase === undefined || decision.kind === 'refused') break;
      if (!group.ok) return malformed('object', group);
      decision = await decideThenConfirm({ review, request: group.value, phase }, sources);
    }
    return decision;
  };
}

/** The class of a PodGroup, or those of the templates of a Workload, each once. */
function classNames(object: unknown): ReadonlySet<unknown> {
  const spec = fieldOf(object, 'spec');
  const templates = fieldOf(spec, 'podGroupTemplates');
  const holders: readonly unknown[] = [spec, ...(Array.isArray(templates) ? (templates as unknown[]) : [])];
  return new Set(holders.map((holder) => fieldOf(holder, 'priorityClassName') ?? '').filter((name) => name !== ''));
}

/** As a pod of the class that runs as no account. */
function groupOf(priorityClassName: unknown, { requester, namespace }: Review['request']): Decoded<PodRequest> {
  const pod = { metadata: { namespace }, spec: { priorityClassName, containers: [] } };
  const decoded = decodePodRequest(pod, requester, namespace);
  return decoded.ok ? { ok: true, value: { ...decoded.value, serviceAccountName: '' } } : decoded;
}
