import type { AdmissionWorld } from '#shared/domain/admission/admission-world.ts';
import type { AdmissionDecision } from '#shared/domain/admission/decision.ts';
import type { PodSearch } from '#shared/domain/admission/known-pods.ts';
import { partnerSearches } from '#shared/domain/admission/partner-searches.ts';
import type { PodRequest } from '#shared/domain/admission/pod-request.ts';
import type { PodLookUp } from './pod-look-up.ts';
import type { WorldReader } from './world.ts';

export interface PodSources {
  readonly world: WorldReader;
  /** The world for one pod with what may be out of date read from the API server: asked before a refusal is given. */
  readonly liveWorld: (request: PodRequest) => Promise<AdmissionWorld>;
  readonly lookUpPods: PodLookUp;
}

export type Decide = (request: PodRequest, world: AdmissionWorld) => AdmissionDecision;

/**
 * Decides from the caches where they suffice, which is nearly always. A refusal, and anything in a namespace that they
 * do not know, is decided on live objects; then on the pods that make a warning or a refusal more helpful.
 */
export function settle(
  request: PodRequest,
  sources: PodSources,
  decide: Decide,
): AdmissionDecision | Promise<AdmissionDecision> {
  const cached = sources.world();
  const decision = decide(request, cached);
  const isFirm = decision.kind === 'allowed' && cached.namespaceLabels(request.pod.namespace) !== undefined;
  if (!isFirm) return sources.liveWorld(request).then((live) => refine(decide(request, live), live));
  return partnerSearches(request, cached).length === 0 ? decision : refine(decision, cached);

  async function refine(settled: AdmissionDecision, world: AdmissionWorld): Promise<AdmissionDecision> {
    const searches = usefulSearches(settled, request, world);
    if (searches.length === 0) return settled;
    return decide(request, { ...world, knownPods: await sources.lookUpPods(searches) });
  }
}

/** Which pods would say more: those that hold the quota that is full, those that the pod must run beside. */
function usefulSearches(decision: AdmissionDecision, request: PodRequest, world: AdmissionWorld): readonly PodSearch[] {
  if (decision.kind === 'allowed') return partnerSearches(request, world);
  const { namespace } = request.pod;
  return decision.because.code === 'QuotaExceeded' ? [{ namespace, selector: undefined }] : [];
}
