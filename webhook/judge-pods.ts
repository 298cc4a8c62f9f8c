import { because } from '#shared/domain/admission/admission-code.ts';
import type { AdmissionWorld } from '#shared/domain/admission/admission-world.ts';
import { allow, type AdmissionDecision } from '#shared/domain/admission/decision.ts';
import type { PodRequest } from '#shared/domain/admission/pod-request.ts';
import { malformed, unexpectedResource } from '#shared/domain/admission/unacceptable.ts';
import { decodePodRequest } from '#shared/kube/decode-pod-request.ts';
import type { Review } from './decode-review.ts';
import type { Judge } from './review-listener.ts';
import type { WorldReader } from './world.ts';

export interface PodSources {
  readonly world: WorldReader;
  /** The world for one pod with classes and quotas read from the API server: asked before a refusal is given. */
  readonly liveWorld: (request: PodRequest) => Promise<AdmissionWorld>;
}

type Decide = (request: PodRequest, world: AdmissionWorld) => AdmissionDecision;

/** Judges the creation of pods; a refusal from cached objects is decided again on live ones. */
export function judgePods({ world, liveWorld }: PodSources, decide: Decide): Judge {
  return (review) => {
    const unexpected = notACreatedPod(review);
    if (unexpected !== undefined) return unexpected;
    const { requester, namespace } = review.request;
    const decoded = decodePodRequest(review.object, requester, namespace);
    if (!decoded.ok) return malformed('object', decoded);
    const decision = decide(decoded.value, world());
    if (decision.kind === 'allowed') return decision;
    return liveWorld(decoded.value).then((live) => decide(decoded.value, live));
  };
}

/** A rule that sends us anything else is wrong, and is told so instead of letting it pass. */
function notACreatedPod({ request }: Review): AdmissionDecision | undefined {
  const { group, resource, subresource, operation } = request;
  if (group !== '' || resource !== 'pods' || subresource !== '') return unexpectedResource(request, 'pods');
  return operation === 'CREATE' ? undefined : allow(because('NothingToDecide', `${operation} changes no priority`));
}
