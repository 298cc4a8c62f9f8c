import { because } from '#shared/domain/admission/admission-code.ts';
import { asDryRun, refuse, type AdmissionDecision } from '#shared/domain/admission/decision.ts';
import { WEBHOOK_PATHS } from '#shared/kube/webhook-configurations.ts';
import type { WebhookConfiguration } from './configuration.ts';

/** Decides about a review on a path that is too large to be read, `message` being how large it may be. */
export type JudgeTooLarge = (path: string, message: string) => AdmissionDecision | undefined;

/** Where something is let in. What is removed need not be read: there the registered failure policy decides. */
const LETTING_IN: readonly string[] = [
  WEBHOOK_PATHS.mutate,
  WEBHOOK_PATHS.validate,
  WEBHOOK_PATHS.quota,
  WEBHOOK_PATHS.templates,
];

/** Refuses what would be let in unread where an entry ignores failures: a pod is quickly made too large to be judged. */
export function judgeTooLarge(mode: WebhookConfiguration['mode']): JudgeTooLarge {
  return (path, message) => {
    if (!LETTING_IN.includes(path)) return undefined;
    const refused = refuse(413, because('ReviewTooLarge', message));
    return mode === 'DryRun' ? asDryRun(refused) : refused;
  };
}

const BEGINNING =
  /^\{"kind":"AdmissionReview","apiVersion":"admission\.k8s\.io\/v1","request":\{"uid":"([^"\\]{1,128})"/;
const BEGINNING_BYTES = 512;

/** The uid of a review from its first bytes, in the order in which the API server writes them (k8s.io/api/admission/v1). */
export function uidOfBeginning(bytes: Buffer): string | undefined {
  return BEGINNING.exec(bytes.toString('latin1', 0, BEGINNING_BYTES))?.[1];
}
