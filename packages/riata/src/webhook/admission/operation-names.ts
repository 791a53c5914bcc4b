/** `CREATE` as handlers name it, `create`. What is none of the four stays as it is, in lower case. */
export function lowercaseOperation(operation: unknown): string {
  switch (operation) {
    case 'CREATE':
      return 'create';
    case 'UPDATE':
      return 'update';
    case 'DELETE':
      return 'delete';
    case 'CONNECT':
      return 'connect';
    default:
      return String(operation).toLowerCase();
  }
}
