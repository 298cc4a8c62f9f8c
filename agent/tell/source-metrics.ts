import type { Metrics } from '#shared/runtime/metrics.ts';
import type { Verdict } from '#agent/agree/compare-opinion.ts';
import type { SourceHealth } from '#agent/observe/watched-source.ts';

/** How the sources do, which of them agree, and whether the kubelet stands in for the kernel. */
export interface SourcesShown {
  readonly health: readonly SourceHealth[];
  readonly verdicts: readonly Verdict[];
  readonly hasFallenBack: boolean;
}

/** Shows the sources in numbers; one that is not asked any more loses its series. */
export type ShowSources = (sources: SourcesShown, nowMs: number) => void;

export function createSourceMetrics(metrics: Metrics): ShowSources {
  const label = ['source'];
  const success = metrics.gauge('plimsoll_source_success', 'Whether the last reading of a source was one', label);
  const age = metrics.gauge('plimsoll_source_age_seconds', 'Age of the last good reading of a source', label);
  const duration = metrics.gauge('plimsoll_source_duration_seconds', 'How long the last reading took', label);
  const agrees = metrics.gauge('plimsoll_source_agrees', 'Whether a second opinion agrees with our own reading', label);
  const fallback = metrics.gauge(
    'plimsoll_source_fallback',
    'Whether the kubelet stands in for the files of the kernel, which do not tell the memory left',
  );

  function showHealth(health: readonly SourceHealth[], nowMs: number): void {
    for (const { name, state, lastReadingAtMs, durationMs } of health) {
      const labels = { source: name };
      success.set(state === 'reading' ? 1 : 0, labels);
      duration.set(durationMs / 1000, labels);
      if (lastReadingAtMs !== undefined) age.set((nowMs - lastReadingAtMs) / 1000, labels);
    }
  }

  /** What could not be compared has no series: it neither agrees nor differs. */
  function showVerdicts(verdicts: readonly Verdict[]): void {
    for (const { source, kind } of verdicts) {
      if (kind === 'agrees' || kind === 'differs') agrees.set(kind === 'agrees' ? 1 : 0, { source });
    }
  }

  return ({ health, verdicts, hasFallenBack }, nowMs) => {
    for (const gauge of [success, age, duration, agrees]) gauge.reset();
    showHealth(health, nowMs);
    showVerdicts(verdicts);
    fallback.set(hasFallenBack ? 1 : 0);
  };
}
