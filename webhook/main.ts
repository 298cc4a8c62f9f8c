/** The admission webhook: decides whether a pod may have its priority, and charges it to the quotas that count it. */
import { runProgram } from '#shared/runtime/run-program.ts';
import { webhookSchema } from './configuration.ts';
import { startWebhook } from './webhook.ts';

await runProgram({ component: 'webhook', kind: 'WebhookConfiguration', schema: webhookSchema, start: startWebhook });
