import {
  decidingReadings,
  figureInForce,
  isMemorySignal,
  type MemoryFigure,
} from '#shared/domain/pressure/memory-figure.ts';
import { observe, type Observations } from '#shared/domain/pressure/observation.ts';
import type { Signal } from '#shared/domain/pressure/signal.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import type { NodeView } from './node-view.ts';

type Figures = Pick<NodeView, 'readings' | 'reclaimable'>;

/**
 * The observations that thresholds are compared with: for memory the deciding figure, for everything else the reading.
 */
export function decidingObservations(
  { readings, reclaimable }: Figures,
  { memoryFigure }: Pick<AgentPolicy, 'memoryFigure'>,
): Observations {
  return observe(decidingReadings(readings, reclaimable, memoryFigure));
}

/** The figure that decides for a memory signal; `undefined` for other signals. */
export function decidingFigure(
  signal: Signal,
  { reclaimable }: Pick<Figures, 'reclaimable'>,
  { memoryFigure }: Pick<AgentPolicy, 'memoryFigure'>,
): MemoryFigure | undefined {
  return isMemorySignal(signal) ? figureInForce(reclaimable, memoryFigure, signal) : undefined;
}
