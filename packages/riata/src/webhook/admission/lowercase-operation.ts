/** `CREATE` as handlers name it, `create`. Any other operation is only put in lower case. */
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
