import type { Definitions } from '#sandbox/api-server/schema/definitions.ts';
import { DEFAULT_COLUMNS } from '#sandbox/api-server/table/column.ts';
import { APPS } from './apps.ts';
import { CLUSTER } from './cluster.ts';
import { CORE } from './core.ts';
import { POLICIES } from './policies.ts';
import type { KindSpec } from './kind-spec.ts';
import { PLAIN, type ResourceType } from '#sandbox/api-server/resource-type.ts';

/** The kinds that exist without a CustomResourceDefinition. */
export function builtInTypes(definitions: Definitions): ResourceType[] {
  return [...CORE, ...APPS, ...POLICIES, ...CLUSTER].map((spec) => resourceType(spec, definitions));
}

function resourceType(spec: KindSpec, definitions: Definitions): ResourceType {
  const apiVersion = spec.group === '' ? spec.version : `${spec.group}/${spec.version}`;
  const definition = definitionName(spec);
  return {
    ...spec,
    apiVersion,
    singular: spec.kind.toLowerCase(),
    shortNames: spec.shortNames ?? [],
    categories: spec.categories ?? [],
    subresources: spec.subresources ?? [],
    schema: definitions.schema(definition),
    definition,
    openApi: undefined,
    storage: spec.storage ?? `${spec.plural}.${spec.group}`,
    view: { apiVersion, convert: spec.fromStorage },
    toStorage: spec.toStorage,
    behaviour: { ...PLAIN, ...spec.behaviour },
    columns: spec.columns ?? DEFAULT_COLUMNS,
    fieldReaders: spec.fieldReaders ?? {},
  };
}

/** Groups are named by their first word in Kubernetes' Go packages. */
function definitionName({ group, version, kind }: KindSpec): string {
  if (group === 'apiextensions.k8s.io')
    return `io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.${version}.${kind}`;
  return `io.k8s.api.${group === '' ? 'core' : (group.split('.')[0] ?? '')}.${version}.${kind}`;
}
