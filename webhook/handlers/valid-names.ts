import type { AdmissionDecision } from '#shared/domain/admission/decision.ts';
import { malformedField } from '#shared/domain/admission/refusals/invalid-request.ts';
import { subdomainFaults } from '#shared/domain/labels/subdomain-faults.ts';
import { fieldOf } from '#shared/kube/kube-object.ts';
import type { Review } from '#webhook/server/decode-review.ts';
import type { AdmissionHandler } from '#webhook/server/review-answerer.ts';

/**
 * A handler for the validating phase that refuses invalid names: the API server has already validated them, so it
 * cannot have sent such a request. The mutating phase runs before that validation and does not check names.
 */
export function withValidNames(handle: AdmissionHandler): AdmissionHandler {
  return (review) => nameProblem(review) ?? handle(review);
}

function nameProblem({ request, object }: Review): AdmissionDecision | undefined {
  const metadata = fieldOf(object, 'metadata');
  const names: readonly (readonly [string, unknown])[] = [
    ['request.name', request.name],
    ['request.namespace', request.namespace],
    ['object.metadata.name', fieldOf(metadata, 'name')],
    ['object.metadata.namespace', fieldOf(metadata, 'namespace')],
  ];
  const wrong = names.find(([, name]) => typeof name === 'string' && name !== '' && subdomainFaults(name).length > 0);
  if (wrong === undefined) return undefined;
  const [field, name] = wrong;
  return malformedField(field, subdomainFaults(String(name)).join(', '));
}
