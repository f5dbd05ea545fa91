/* A PKCS #11 module with faults: forwards to the module of FAULTY_TOKEN_MODULE, and does before each call what the file
 * FAULTY_TOKEN_CONTROL says. Its text is one of
 *
 *   ok
 *   hang [FUNCTION]        waits until the text changes
 *   error NUMBER [FUNCTION]  returns it, as long as the text is this
 *   reset                  returns CKR_DEVICE_ERROR until the module is initialised anew
 *   closed, loggedout, finalized   does that behind the caller's back, once for each change of the text
 *   gone                   has no token
 *
 * Without FUNCTION, every function but C_Initialize and C_Finalize is meant.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <p11-kit/pkcs11.h>

static CK_FUNCTION_LIST real, faulty;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char done[64]; /* the text that has been obeyed once */
static int is_broken;

static void read_control(char text[64]) {
  strcpy(text, "ok");
  int file = open(getenv("FAULTY_TOKEN_CONTROL"), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  ssize_t length = read(file, text, 63);
  close(file);
  text[length > 0 ? length : 0] = 0;
  text[strcspn(text, "\n")] = 0;
}

static CK_SLOT_ID token_slot(void) {
  CK_SLOT_ID slots[8];
  CK_ULONG count = 8;
  return real.C_GetSlotList(1, slots, &count) == CKR_OK && count > 0 ? slots[0] : 0;
}

/* Does what the text says before a call; a result other than CKR_OK is the call's. */
static CK_RV fault(const char *function) {
  char text[64], kind[32] = "", argument[32] = "", only[32] = "";
  for (;;) {
    read_control(text);
    sscanf(text, "%31s %31s %31s", kind, argument, only);
    if (strcmp(kind, "hang") || (*argument && strcmp(argument, function))) break;
    usleep(20000);
  }
  if (!strcmp(kind, "error") && (!*only || !strcmp(only, function))) return strtoul(argument, NULL, 0);
  if (!strcmp(kind, "gone")) return CKR_DEVICE_REMOVED;
  pthread_mutex_lock(&lock);
  if (strcmp(text, done)) {
    snprintf(done, sizeof done, "%s", text);
    if (!strcmp(kind, "reset")) is_broken = 1;
    if (!strcmp(kind, "closed")) real.C_CloseAllSessions(token_slot());
    if (!strcmp(kind, "finalized")) real.C_Finalize(NULL);
    if (!strcmp(kind, "loggedout")) {
      CK_SESSION_HANDLE session;
      if (real.C_OpenSession(token_slot(), CKF_SERIAL_SESSION, NULL, NULL, &session) == CKR_OK) {
        real.C_Logout(session);
        real.C_CloseSession(session);
      }
    }
  }
  CK_RV result = is_broken ? CKR_DEVICE_ERROR : CKR_OK;
  pthread_mutex_unlock(&lock);
  return result;
}

#define FORWARD(name, parameters, arguments) \
  static CK_RV faulty_##name parameters {    \
    CK_RV result = fault(#name);             \
    return result ? result : real.name arguments; \
  }

FORWARD(C_GetTokenInfo, (CK_SLOT_ID slot, CK_TOKEN_INFO *info), (slot, info))
FORWARD(C_OpenSession, (CK_SLOT_ID slot, CK_FLAGS flags, void *data, CK_NOTIFY notify, CK_SESSION_HANDLE *session),
        (slot, flags, data, notify, session))
FORWARD(C_GetSessionInfo, (CK_SESSION_HANDLE session, CK_SESSION_INFO *info), (session, info))
FORWARD(C_Login, (CK_SESSION_HANDLE session, CK_USER_TYPE user, unsigned char *pin, CK_ULONG length),
        (session, user, pin, length))
FORWARD(C_FindObjectsInit, (CK_SESSION_HANDLE session, CK_ATTRIBUTE *template, CK_ULONG count), (session, template, count))
FORWARD(C_FindObjects, (CK_SESSION_HANDLE session, CK_OBJECT_HANDLE *found, CK_ULONG most, CK_ULONG *count),
        (session, found, most, count))
FORWARD(C_GetAttributeValue, (CK_SESSION_HANDLE session, CK_OBJECT_HANDLE object, CK_ATTRIBUTE *template, CK_ULONG count),
        (session, object, template, count))
FORWARD(C_SignInit, (CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE key), (session, mechanism, key))
FORWARD(C_Sign, (CK_SESSION_HANDLE session, unsigned char *data, CK_ULONG length, unsigned char *signature, CK_ULONG *size),
        (session, data, length, signature, size))
FORWARD(C_DeriveKey, (CK_SESSION_HANDLE session, CK_MECHANISM *mechanism, CK_OBJECT_HANDLE base, CK_ATTRIBUTE *template,
                      CK_ULONG count, CK_OBJECT_HANDLE *key),
        (session, mechanism, base, template, count, key))

static CK_RV faulty_C_GetSlotList(unsigned char present, CK_SLOT_ID *slots, CK_ULONG *count) {
  CK_RV result = fault("C_GetSlotList");
  if (result == CKR_DEVICE_REMOVED) {
    *count = 0;
    return CKR_OK;
  }
  return result ? result : real.C_GetSlotList(present, slots, count);
}

static CK_RV faulty_C_Initialize(void *arguments) {
  pthread_mutex_lock(&lock);
  is_broken = 0;
  pthread_mutex_unlock(&lock);
  return real.C_Initialize(arguments);
}

CK_RV C_GetFunctionList(CK_FUNCTION_LIST **list) {
  void *module = dlopen(getenv("FAULTY_TOKEN_MODULE"), RTLD_NOW | RTLD_LOCAL);
  CK_C_GetFunctionList get = module ? (CK_C_GetFunctionList)dlsym(module, "C_GetFunctionList") : NULL;
  CK_FUNCTION_LIST *functions;
  if (!get || get(&functions) != CKR_OK) return CKR_GENERAL_ERROR;
  real = faulty = *functions;
  faulty.C_Initialize = faulty_C_Initialize;
  faulty.C_GetSlotList = faulty_C_GetSlotList;
  faulty.C_GetTokenInfo = faulty_C_GetTokenInfo;
  faulty.C_OpenSession = faulty_C_OpenSession;
  faulty.C_GetSessionInfo = faulty_C_GetSessionInfo;
  faulty.C_Login = faulty_C_Login;
  faulty.C_FindObjectsInit = faulty_C_FindObjectsInit;
  faulty.C_FindObjects = faulty_C_FindObjects;
  faulty.C_GetAttributeValue = faulty_C_GetAttributeValue;
  faulty.C_SignInit = faulty_C_SignInit;
  faulty.C_Sign = faulty_C_Sign;
  faulty.C_DeriveKey = faulty_C_DeriveKey;
  *list = &faulty;
  return CKR_OK;
}
