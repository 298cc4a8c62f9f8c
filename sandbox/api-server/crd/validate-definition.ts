import { compileExpression } from '#sandbox/api-server/cel/expression.ts';
import { type FieldError, invalidValue, required, unsupported } from '#sandbox/api-server/errors/field-error.ts';
import {
  fieldsAt,
  isFields,
  listAt,
  textAt,
  type Fields,
  type KubeObject,
  fieldsOf,
} from '#sandbox/api-server/wire/object.ts';
import { recordAt, setDefault } from '#sandbox/api-server/set-default.ts';
import { celRulesOf, RULE_VARIABLES } from './cel-rules.ts';

/** Checks a CustomResourceDefinition for what would make it unusable. */
export function validateDefinition(definition: KubeObject): FieldError[] {
  const spec = fieldsAt(definition, 'spec');
  const versions = listAt(spec, 'versions');
  return [
    ...validateName(definition.metadata.name, spec),
    ...(textAt(spec, 'scope') === '' ? [required('spec.scope')] : scopeErrors(spec)),
    ...['plural', 'kind']
      .filter((name) => textAt(fieldsAt(spec, 'names'), name) === '')
      .map((name) => required(`spec.names.${name}`)),
    ...validateStorage(versions),
    ...versions.flatMap((version, index) => validateVersion(version, `spec.versions[${index}]`)),
  ];
}

function validateName(name: string, spec: Fields): FieldError[] {
  const expected = `${textAt(fieldsAt(spec, 'names'), 'plural')}.${textAt(spec, 'group')}`;
  return name === expected ? [] : [invalidValue('metadata.name', name, `must be spec.names.plural+"."+spec.group`)];
}

function scopeErrors(spec: Fields): FieldError[] {
  const scope = textAt(spec, 'scope');
  return scope === 'Cluster' || scope === 'Namespaced'
    ? []
    : [unsupported('spec.scope', scope, ['Cluster', 'Namespaced'])];
}

function validateStorage(versions: readonly Fields[]): FieldError[] {
  const stored = versions.filter((version) => version['storage'] === true);
  return stored.length === 1
    ? []
    : [
        invalidValue(
          'spec.versions',
          versions.map((version) => textAt(version, 'name')),
          'must have exactly one version marked as storage version',
        ),
      ];
}

function validateVersion(version: Fields, path: string): FieldError[] {
  const schema = fieldsAt(version, 'schema')['openAPIV3Schema'];
  if (!isFields(schema)) return [required(`${path}.schema.openAPIV3Schema`, 'schemas are required')];
  const at = `${path}.schema.openAPIV3Schema`;
  const type =
    schema['type'] === 'object' ? [] : [invalidValue(`${at}.type`, schema['type'] ?? '', 'must be object at the root')];
  return [...type, ...validateSchema(schema, at)];
}

/** Structural schemas: every node has a type, every rule compiles. */
function validateSchema(schema: Fields, path: string): FieldError[] {
  const hasType =
    schema['type'] !== undefined ||
    schema['x-kubernetes-int-or-string'] === true ||
    schema['x-kubernetes-preserve-unknown-fields'] === true;
  return [
    ...(hasType ? [] : [required(`${path}.type`, 'must not be empty for specified object fields')]),
    ...ruleErrors(schema, path),
    ...Object.entries(fieldsAt(schema, 'properties')).flatMap(([name, property]) =>
      validateSchema(property as Fields, `${path}.properties[${name}]`),
    ),
    ...(isFields(schema['items']) ? validateSchema(schema['items'], `${path}.items`) : []),
    ...(isFields(schema['additionalProperties'])
      ? validateSchema(schema['additionalProperties'], `${path}.additionalProperties`)
      : []),
  ];
}

function ruleErrors(schema: Fields, path: string): FieldError[] {
  return celRulesOf(schema).flatMap(({ rule }, index) => {
    const compiled = compileExpression(rule, RULE_VARIABLES);
    if (compiled.ok) return [];
    return [
      invalidValue(`${path}.x-kubernetes-validations[${index}].rule`, rule, `compilation failed: ${compiled.message}`),
    ];
  });
}

/** `apiextensions-apiserver/pkg/apis/apiextensions/v1/defaults.go`. */
export function setDefinitionDefaults(definition: KubeObject): void {
  const spec = recordAt(definition, 'spec');
  const names = recordAt(spec, 'names');
  const kind = textAt(names, 'kind');
  setDefault(names, 'singular', kind.toLowerCase());
  setDefault(names, 'listKind', `${kind}List`);
  setDefault(spec, 'conversion', { strategy: 'None' });
}

/** Names never clash here and there is nothing to wait for, so a definition is established as soon as it is stored. */
export function prepareDefinition(definition: KubeObject): void {
  const spec = fieldsAt(definition, 'spec');
  const storage = listAt(spec, 'versions').find((version) => version['storage'] === true);
  const time = definition.metadata.creationTimestamp ?? '';
  fieldsOf(definition)['status'] = {
    conditions: [
      condition('NamesAccepted', 'NoConflicts', 'no conflicts found', time),
      condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted', time),
    ],
    acceptedNames: fieldsAt(spec, 'names'),
    storedVersions: storage === undefined ? [] : [textAt(storage, 'name')],
  };
}

function condition(type: string, reason: string, ...[message, time]: [string, string]): Fields {
  return { type, status: 'True', lastTransitionTime: time, reason, message };
}
