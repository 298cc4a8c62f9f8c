import type { HealthCheck } from '#shared/http/health.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import type { WebhookTarget } from '#shared/kube/admission/webhook-configurations.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import { repeat } from '#shared/runtime/repeat.ts';
import type { WebhookConfiguration } from '#webhook/configuration.ts';
import { registerCaBundle, registerFully } from './register.ts';
import { LOG } from '#webhook/messages.ts';

export interface RegistrationSources extends Pick<ClientContext, 'client' | 'clock' | 'log'> {
  readonly configuration: WebhookConfiguration;
  /** The port that the webhook listens on. */
  readonly port: number;
  readonly caBundlePem: () => string | undefined;
}

/** Keeps the address and the CA bundle in the webhook configurations current, and reports whether they are. */
export interface Registration {
  run(signal: AbortSignal): Promise<void>;
  /** Registers if anything has changed or was not verified for a while. */
  reconcile(): Promise<void>;
  /** Whether every configuration has exactly this bundle, as of the last write. */
  isTrusted(caBundlePem: string): boolean;
  readonly check: HealthCheck;
}

const RECONCILE_EVERY_MS = 1_000;
/** A change of our entries by another client is noticed after this long. */
const VERIFY_EVERY_MS = 30_000;
const DEADLINE_MS = 10_000;
const BACKOFF = { initialMs: 200, maxMs: 30_000, factor: 2, jitter: 0.5 };

/** Nothing is written before `run` or `reconcile`. */
export function createRegistration(sources: RegistrationSources): Registration {
  const { clock, log, configuration, caBundlePem } = sources;
  const isOurs = configuration.registration.mode !== 'None';
  let problem: string | undefined = isOurs ? 'not registered yet' : undefined;
  let registered: { readonly pem: string | undefined; readonly at: number } | undefined;

  async function reconcile(): Promise<void> {
    const pem = caBundlePem();
    if (!isOurs || isCurrent(pem)) return;
    await registerOnce(sources, pem);
    if (registered?.pem !== pem) log.info({ mode: configuration.registration.mode }, LOG.registered);
    registered = { pem, at: clock.monotonic() };
    problem = undefined;
  }

  function isCurrent(pem: string | undefined): boolean {
    return registered !== undefined && registered.pem === pem && clock.monotonic() - registered.at < VERIFY_EVERY_MS;
  }

  function onError(error: unknown, failuresInARow: number): void {
    registered = undefined;
    problem = errorText(error);
    log.warn({ err: error, failuresInARow }, LOG.registrationFailed);
  }
  return {
    run: (signal) =>
      repeat(
        { task: reconcile, periodMs: RECONCILE_EVERY_MS, deadlineMs: DEADLINE_MS, backoff: BACKOFF, onError, clock },
        signal,
      ),
    reconcile,
    isTrusted: (pem) => registered?.pem === pem,
    check: { name: 'registration', problem: () => problem },
  };
}

async function registerOnce(
  { client, configuration, port }: RegistrationSources,
  pem: string | undefined,
): Promise<void> {
  const { mode, failurePolicy } = configuration.registration;
  if (mode === 'CaBundle' && pem !== undefined) await registerCaBundle(client, pem);
  if (mode !== 'Full') return;
  await registerFully(client, {
    target: targetOf(configuration, port),
    failurePolicy,
    gatedCallers: configuration.gatedCallers,
    ...(pem !== undefined && { caBundlePem: pem }),
  });
}

/** Port 0 in the registered URL stands for the port that the webhook listens on, which may have been chosen freely. */
function targetOf({ registration }: WebhookConfiguration, port: number): WebhookTarget {
  const { url, serviceNamespace: namespace, serviceName: name, servicePort } = registration;
  if (url === undefined) return { kind: 'service', namespace, name, port: servicePort };
  return { kind: 'url', url: url.replace(/:0\/?$/, `:${port}`).replace(/\/$/, '') };
}
