import {
  decidingReadings,
  figureInForce,
  isMemorySignal,
  type MemoryFigure,
} from '#shared/domain/pressure/memory-figure.ts';
import { observe, type Observations } from '#shared/domain/pressure/observation.ts';
import type { Signal } from '#shared/domain/pressure/signal.ts';
import type { AgentPolicy } from '#agent/policy/policy.ts';
import type { NodeView } from './node-view.ts';

type Figures = Pick<NodeView, 'readings' | 'reclaimable'>;

/** What thresholds are held against: of memory the figure that decides, of everything else what was read. */
export function decidingObservations(
  { readings, reclaimable }: Figures,
  { memoryFigure }: Pick<AgentPolicy, 'memoryFigure'>,
): Observations {
  return observe(decidingReadings(readings, reclaimable, memoryFigure));
}

/** The figure that decides for a signal; `undefined` for one that has no two of them. */
export function decidingFigure(
  signal: Signal,
  { reclaimable }: Pick<Figures, 'reclaimable'>,
  { memoryFigure }: Pick<AgentPolicy, 'memoryFigure'>,
): MemoryFigure | undefined {
  return isMemorySignal(signal) ? figureInForce(reclaimable, memoryFigure, signal) : undefined;
}
