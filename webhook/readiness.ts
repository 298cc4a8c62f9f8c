import type { HealthCheck } from '#shared/http/health.ts';
import type { Shutdown } from '#shared/runtime/shutdown.ts';
import type { Caches } from './cluster-state/caches.ts';
import { unsyncedCaches } from './cluster-state/cached-state.ts';

/** Not ready from the first signal to stop, so that the Service routes no more connections here. */
export function stoppingCheck({ signal }: Shutdown): HealthCheck {
  return { name: 'running', problem: () => (signal.aborted ? 'about to end' : undefined) };
}

/** Unready until every cache has been filled once. */
export function cachesCheck(caches: Caches): HealthCheck {
  return {
    name: 'caches',
    problem: () => {
      const missing = unsyncedCaches(caches);
      return missing.length === 0 ? undefined : `not yet read: ${missing.join(', ')}`;
    },
  };
}
