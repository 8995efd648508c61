// Names of cl_khr_command_buffer and the extensions on top of it that not all OpenCL headers have, or that
// other releases of them call otherwise.
#pragma once

#include <CL/cl.h>
#include <CL/cl_ext.h>

namespace clique::icd {

/// cl_command_properties_khr; before version 0.9.5 of the extension cl_ndrange_kernel_command_properties_khr.
using CommandProperties = cl_properties;
/// cl_command_buffer_update_type_khr.
using UpdateType = cl_uint;

/// CL_DEVICE_COMMAND_BUFFER_SUPPORTED_QUEUE_PROPERTIES_KHR.
inline constexpr cl_device_info kSupportedQueueProperties = 0x129A;
/// CL_DEVICE_COMMAND_BUFFER_NUM_SYNC_DEVICES_KHR, CL_DEVICE_COMMAND_BUFFER_SYNC_DEVICES_KHR.
inline constexpr cl_device_info kNumSyncDevices = 0x12AB;
inline constexpr cl_device_info kSyncDevices = 0x12AC;
/// CL_COMMAND_BUFFER_CAPABILITY_MULTIPLE_QUEUE_KHR.
inline constexpr cl_bitfield kCapabilityMultipleQueues = 1U << 4U;
/// CL_COMMAND_BUFFER_CAPABILITY_OUT_OF_ORDER_KHR, which versions from 0.9.6 on do not define.
inline constexpr cl_bitfield kCapabilityOutOfOrder = 1U << 3U;

/// CL_PLATFORM_COMMAND_BUFFER_CAPABILITIES_KHR, and its bits CL_COMMAND_BUFFER_PLATFORM_….
inline constexpr cl_platform_info kPlatformCapabilities = 0x0908;
inline constexpr cl_bitfield kPlatformUniversalSync = 1U << 0U;
inline constexpr cl_bitfield kPlatformRemapQueues = 1U << 1U;
inline constexpr cl_bitfield kPlatformAutomaticRemap = 1U << 2U;

/// CL_COMMAND_BUFFER_DEVICE_SIDE_SYNC_KHR.
inline constexpr cl_bitfield kDeviceSideSync = 1U << 2U;
/// CL_COMMAND_BUFFER_CONTEXT_KHR.
inline constexpr cl_command_buffer_info_khr kCommandBufferContext = 0x1299;
/// CL_COMMAND_BUFFER_STATE_FINALIZED_KHR. Before version 0.9.8 the same number meant that runs are pending.
inline constexpr cl_command_buffer_state_khr kStateFinalized = 2;

/// CL_COMMAND_BUFFER_MUTABLE_DISPATCH_ASSERTS_KHR, CL_MUTABLE_DISPATCH_ASSERTS_KHR, and their only bit,
/// CL_MUTABLE_DISPATCH_ASSERT_NO_ADDITIONAL_WORK_GROUPS_KHR.
inline constexpr cl_command_buffer_properties_khr kDispatchAsserts = 0x12B7;
inline constexpr CommandProperties kCommandAsserts = 0x12B8;
inline constexpr cl_bitfield kAssertNoAdditionalWorkGroups = 1;
/// CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR; before version 0.9.3 CL_MUTABLE_DISPATCH_PROPERTIES_ARRAY_KHR.
inline constexpr cl_mutable_command_info_khr kCommandPropertiesArray = 0x12A2;
/// CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR since version 0.9.2.
inline constexpr UpdateType kDispatchConfigType = 0;

}  // namespace clique::icd
