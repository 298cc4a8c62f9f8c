/** The admission webhook: answers for the API server whether a pod may have its priority, and in which quota it counts. */
import { runProgram } from '#shared/runtime/run-program.ts';
import { webhookSchema } from './configuration.ts';
import { startWebhook } from './webhook.ts';

await runProgram({ component: 'webhook', kind: 'WebhookConfiguration', schema: webhookSchema, start: startWebhook });
