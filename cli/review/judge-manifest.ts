import { because } from '#shared/domain/admission/admission-code.ts';
import { decideMutation } from '#shared/domain/admission/decide-mutation.ts';
import { decideTemplate } from '#shared/domain/admission/decide-template.ts';
import { decideValidation } from '#shared/domain/admission/decide-validation.ts';
import { allow, type AdmissionDecision, type Allowed } from '#shared/domain/admission/decision.ts';
import type { PodRequest } from '#shared/domain/admission/pod-request.ts';
import type { Requester } from '#shared/domain/admission/request.ts';
import { malformed } from '#shared/domain/admission/refusals/invalid-request.ts';
import { withPriority } from '#shared/domain/admission/with-priority.ts';
import { withDefaultRequests } from '#shared/domain/pod/default-requests.ts';
import { decodePodRequest, decodeTemplate } from '#shared/kube/decode/decode-pod-request.ts';
import type { RunningUsage } from './running-usage.ts';
import { findExemption } from './exemption.ts';
import { isPod, namespaceOf, type Manifest } from '#cli/manifests/manifest.ts';

/** Who would create the objects, and where those that name no namespace would go. */
export interface Context {
  readonly requester: Requester;
  readonly namespace: string;
}

/** What the webhook would say if the object were created now; an admitted pod is added to the running usage. */
export function judgeManifest(manifest: Manifest, usage: RunningUsage, context: Context): AdmissionDecision {
  const namespace = namespaceOf(manifest, context.namespace);
  const { requester } = context;
  const exemption = findExemption({ isPod: isPod(manifest), requester, namespace }, usage.world);
  if (exemption !== undefined) return allow(because('NothingToDecide', exemption));
  return isPod(manifest)
    ? judgePod(decodePodRequest(manifest.raw, requester, namespace), usage)
    : judgeWorkload(decodeTemplate(manifest.raw, requester, namespace), usage);
}

function judgeWorkload(template: ReturnType<typeof decodeTemplate>, { world }: RunningUsage): AdmissionDecision {
  if (template === undefined) return allow(because('NothingToDecide', 'there is no template'));
  return template.ok ? decideTemplate(template.value, world) : malformed('object', template);
}

function judgePod(decoded: ReturnType<typeof decodePodRequest>, usage: RunningUsage): AdmissionDecision {
  if (!decoded.ok) return malformed('object', decoded);
  const request = { ...decoded.value, pod: withDefaultRequests(decoded.value.pod) };
  const mutation = decideMutation(request, usage.world);
  return mutation.kind === 'refused' ? mutation : judgeMutated(request, mutation, usage);
}

function judgeMutated(request: PodRequest, mutation: Allowed, usage: RunningUsage): AdmissionDecision {
  const pod = mutation.change === undefined ? request.pod : withPriority(request.pod, mutation.change);
  const validation = decideValidation({ ...request, pod }, usage.world);
  if (validation.kind === 'refused') return validation;
  return usage.charge(pod) ?? { ...mutation, warnings: [...mutation.warnings, ...validation.warnings] };
}
