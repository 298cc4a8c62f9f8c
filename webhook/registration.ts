import type { HealthCheck } from '#shared/http/health.ts';
import type { KubeClient } from '#shared/kube/client.ts';
import type { WebhookTarget } from '#shared/kube/webhook-configurations.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import { repeat } from '#shared/runtime/repeat.ts';
import type { WebhookConfiguration } from './configuration.ts';
import { registerCaBundle, registerFully } from './register.ts';

export interface RegistrationSources {
  readonly client: KubeClient;
  readonly configuration: WebhookConfiguration;
  /** Where we really listen. */
  readonly port: number;
  readonly caBundlePem: () => string | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Keeps the webhook configurations pointing at us with our authority, and says whether they do. */
export interface Registration {
  run(signal: AbortSignal): Promise<void>;
  readonly check: HealthCheck;
}

const PERIOD_MS = 30_000;
const DEADLINE_MS = 10_000;
const BACKOFF = { initialMs: 200, maxMs: 30_000, factor: 2, jitter: 0.5 };

/** Nothing is written before `run`. */
export function createRegistration(sources: RegistrationSources): Registration {
  const { clock, log, configuration } = sources;
  let problem: string | undefined = configuration.registration.mode === 'None' ? undefined : 'not registered yet';

  async function register(): Promise<void> {
    await registerOnce(sources);
    if (problem !== undefined) log.info({ mode: configuration.registration.mode }, 'Webhook registered');
    problem = undefined;
  }
  function onError(error: unknown, failuresInARow: number): void {
    problem = error instanceof Error ? error.message : 'registration failed';
    log.warn({ err: error, failuresInARow }, 'Could not register');
  }
  return {
    run: (signal) =>
      repeat(
        { task: register, periodMs: PERIOD_MS, deadlineMs: DEADLINE_MS, backoff: BACKOFF, onError, clock },
        signal,
      ),
    check: { name: 'registration', problem: () => problem },
  };
}

async function registerOnce({ client, configuration, port, caBundlePem }: RegistrationSources): Promise<void> {
  const { mode, failurePolicy } = configuration.registration;
  const pem = caBundlePem();
  if (mode === 'CaBundle' && pem !== undefined) await registerCaBundle(client, pem);
  if (mode !== 'Full') return;
  await registerFully(client, {
    target: targetOf(configuration, port),
    failurePolicy,
    gatedCallers: configuration.gatedCallers,
    ...(pem !== undefined && { caBundlePem: pem }),
  });
}

/** A registered address may leave the port to us, for we may have taken a free one. */
function targetOf({ registration }: WebhookConfiguration, port: number): WebhookTarget {
  const { url, serviceNamespace: namespace, serviceName: name, servicePort } = registration;
  if (url === undefined) return { kind: 'service', namespace, name, port: servicePort };
  return { kind: 'url', url: url.replace(/:0\/?$/, `:${port}`).replace(/\/$/, '') };
}
