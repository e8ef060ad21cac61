/* What Go takes random numbers from, and Wine before 9 does not have. */
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID to, ULONG length);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE to, SIZE_T length) {
	return length <= 0xffffffff && SystemFunction036(to, (ULONG)length);
}
