import { readFileSync } from 'node:fs';
import { byName } from '#shared/domain/base/texts.ts';
import { loadedFrom, type Modules, reachedFrom, type Declaration } from '#tools/reach/reached-from.ts';
import { repositoryModules } from '#tools/reach/repository-modules.ts';
import type { MetricDefinition } from './metric-definition.ts';
import { readDefinitions } from './read-definitions.ts';

/** The processes that export metrics. */
export const COMPONENTS = ['agent', 'scheduler', 'webhook'] as const;
export type ExportingProcess = (typeof COMPONENTS)[number];

/** A metric and the processes that export it. */
export interface ExportedMetric extends MetricDefinition {
  readonly components: readonly ExportingProcess[];
}

/**
 * Every metric that the code of a process can reach, by name. Reads the sources from the working directory. Throws when
 * one name is registered in two ways.
 */
export function repositoryMetrics(): readonly ExportedMetric[] {
  const found = new Map<string, ExportedMetric>();
  const modules = repositoryModules();
  for (const component of COMPONENTS) {
    for (const definition of metricsOf(component, modules)) {
      const known = found.get(definition.name);
      found.set(
        definition.name,
        known === undefined ? { ...definition, components: [component] } : joined(known, definition, component),
      );
    }
  }
  return [...found.values()].toSorted(byName);
}

function metricsOf(component: ExportingProcess, modules: Modules): readonly MetricDefinition[] {
  const main = `${component}/main.ts`;
  const reached = reachedFrom(main, modules);
  return [...loadedFrom(main, modules)].flatMap((file) =>
    readDefinitions(file, readFileSync(file, 'utf8'))
      .filter(({ declaration }) => reached.has(`${file}#${declaration}` satisfies Declaration))
      .map(({ definition }) => definition),
  );
}

function joined(known: ExportedMetric, definition: MetricDefinition, component: ExportingProcess): ExportedMetric {
  const { components, ...before } = known;
  if (JSON.stringify(before) !== JSON.stringify(definition)) {
    throw new Error(
      `cannot list metric ${definition.name}: it is registered with another type, help or labels as well`,
    );
  }
  return { ...known, components: components.includes(component) ? components : [...components, component] };
}
