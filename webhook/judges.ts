import { because } from '#shared/domain/admission/admission-code.ts';
import type { AdmissionWorld } from '#shared/domain/admission/admission-world.ts';
import { decideMutation } from '#shared/domain/admission/decide-mutation.ts';
import { decideValidation } from '#shared/domain/admission/decide-validation.ts';
import { allow, asDryRun, refuse, type AdmissionDecision } from '#shared/domain/admission/decision.ts';
import type { PodRequest } from '#shared/domain/admission/pod-request.ts';
import { decodePodRequest } from '#shared/kube/decode-pod-request.ts';
import { WEBHOOK_PATHS } from '#shared/kube/webhook-configurations.ts';
import type { Review } from './decode-review.ts';
import type { Judge } from './review-listener.ts';
import type { WorldReader } from './world.ts';

type Decide = (request: PodRequest, world: AdmissionWorld) => AdmissionDecision;

export interface JudgeSources {
  /** `DryRun` turns every refusal into a warning. */
  readonly mode: 'Enforce' | 'DryRun';
  readonly world: WorldReader;
  /** The world for one pod with classes and quotas read from the API server: asked before a refusal is given. */
  readonly liveWorld: (request: PodRequest) => Promise<AdmissionWorld>;
}

/** Who judges what, by path. */
export function createJudges(sources: JudgeSources): ReadonlyMap<string, Judge> {
  const judges: readonly (readonly [string, Judge])[] = [
    [WEBHOOK_PATHS.mutate, judgePods(sources, decideMutation)],
    [WEBHOOK_PATHS.validate, judgePods(sources, decideValidation)],
  ];
  return new Map(sources.mode === 'Enforce' ? judges : judges.map(([path, judge]) => [path, inDryRun(judge)]));
}

function inDryRun(judge: Judge): Judge {
  return async (review) => asDryRun(await judge(review));
}

/** Judges the creation of pods; a refusal from cached objects is decided again on live ones. */
function judgePods({ world, liveWorld }: JudgeSources, decide: Decide): Judge {
  return async (review) => {
    const unexpected = notACreatedPod(review);
    if (unexpected !== undefined) return unexpected;
    const { requester, namespace } = review.request;
    const decoded = decodePodRequest(review.object, requester, namespace);
    if (!decoded.ok) return refuse(400, because('MalformedRequest', `object.${decoded.field}: ${decoded.message}`));
    const decision = decide(decoded.value, world());
    return decision.kind === 'allowed' ? decision : decide(decoded.value, await liveWorld(decoded.value));
  };
}

/** A rule that sends us anything else is wrong, and is told so instead of letting it pass. */
function notACreatedPod({ request }: Review): AdmissionDecision | undefined {
  const { group, resource, subresource, operation } = request;
  const name = subresource === '' ? resource : `${resource}/${subresource}`;
  if (group !== '' || name !== 'pods')
    return refuse(400, because('UnknownResource', `request.resource: expected pods, got "${name}"`));
  return operation === 'CREATE' ? undefined : allow(because('NothingToDecide', `${operation} changes no priority`));
}
