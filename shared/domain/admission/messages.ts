import type { Message } from './decision.ts';
import { CLASS_MESSAGES, TEMPLATE_MESSAGES } from './messages/priority-messages.ts';
import { DISRUPTION_MESSAGES, REQUEST_MESSAGES } from './messages/request-messages.ts';
import { QUOTA_MESSAGES } from './messages/quota-messages.ts';
import { RULE_MESSAGES } from './policy-rules.ts';

/**
 * Every sentence with which an admission request is answered, in the order in which a reader meets them. Status 403 is
 * the answer where a policy says `onViolation: Deny`; with `Warn`, and in mode DryRun, the same text is a warning.
 */
export const MESSAGES = {
  ...CLASS_MESSAGES,
  ...RULE_MESSAGES,
  ...QUOTA_MESSAGES,
  ...TEMPLATE_MESSAGES,
  ...DISRUPTION_MESSAGES,
  ...REQUEST_MESSAGES,
} as const satisfies Record<string, Message<never>>;

/** Every reason to allow or refuse a request: the audit annotation `decision` and the metric label `reason`. */
export type AdmissionCode = (typeof MESSAGES)[keyof typeof MESSAGES]['code'];
