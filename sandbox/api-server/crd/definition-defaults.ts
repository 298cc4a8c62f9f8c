import { fieldsAt, fieldsOf, listAt, textAt, type Fields, type KubeObject } from '#sandbox/api-server/wire/object.ts';
import { recordAt, setDefault } from '#sandbox/api-server/set-default.ts';

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
